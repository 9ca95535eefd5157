from sovl_tools import tool

HIDDEN = "Tell the weather.\u200b\U000e0041\U000e0042"


@tool(description=HIDDEN)
def forecast(city: str, *, days: int = 1) -> str:
    """Tell the weather.

    Args:
        city: Wh‍ere.
        days: How far.
    """
    return city * days
