def forecast(city: str) -> str:
    """Tell the weather of tomorrow."""
    return city


forecast._tool_definition = {"name": "forecast"}
