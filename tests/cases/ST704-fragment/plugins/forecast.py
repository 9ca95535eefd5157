from sovl_tools import tool


@tool(params={"city": {"type": "strnig"}}, tags="weather")
def forecast(city: str) -> str:
    """Tell the weather of tomorrow."""
    return city
