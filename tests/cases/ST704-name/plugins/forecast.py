from sovl_tools import tool


@tool(name="tell weather")
def forecast(city: str) -> str:
    """Tell the weather of tomorrow."""
    return city
