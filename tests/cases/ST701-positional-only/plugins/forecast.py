from sovl_tools import tool


@tool
def forecast(city: str, /) -> str:
    """Tell the weather of tomorrow."""
    return city
