import json

from sovl_tools import tool

CITIES = json.loads("{")


@tool
def forecast(city: str) -> str:
    """Tell the weather of tomorrow."""
    return CITIES[city]
