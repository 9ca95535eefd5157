"""Questions about dates."""

from datetime import date

from sovl_tools import tool


@tool(tags=["dates"], annotations={"read_only": True})
async def days_between(first: date, last: date) -> int:
    """Count the days from one date to another.

    Args:
        first: The earlier date.
        last: The later date; the result is negative if it is the earlier one.
    """
    return (last - first).days


@tool(tags=["dates"], annotations={"read_only": True})
def weekday_of(day: date) -> str:
    """Name the day of the week of a date.

    Args:
        day: The date.
    """
    return f"{day:%A}"
