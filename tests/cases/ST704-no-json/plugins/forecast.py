from sovl_tools import tool


@tool(metadata={"cities": {"Oslo"}})
async def forecast(city: str) -> str:
    """Tell the weather of tomorrow."""
    return city
