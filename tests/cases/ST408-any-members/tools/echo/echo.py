from datetime import date


def echo(days: dict[str, date]):
    return days
