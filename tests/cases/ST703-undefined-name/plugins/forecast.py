from __future__ import annotations

from sovl_tools import tool


@tool
def forecast(city: str, day: Day) -> str:
    """Tell the weather of a day."""
    return f"{city} {day}"
