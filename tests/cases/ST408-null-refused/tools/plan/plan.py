from datetime import date


def plan(start: date, stops: list[date], end: date | None = None, note: str | None = None) -> None:
    """Plan a trip."""
