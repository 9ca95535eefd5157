from sovl_tools import tool


@tool(
    name="forecast",
    tags=["weather"],
)
async def tell(city: str) -> str:
    """Tell the weather of tomorrow."""
    return city
