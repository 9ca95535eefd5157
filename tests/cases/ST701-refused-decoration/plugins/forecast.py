from sovl_tools import tool


@tool(param_descriptions={"ctiy": "Where."})
def forecast(city: str) -> str:
    """Tell the weather of tomorrow."""
    return city
