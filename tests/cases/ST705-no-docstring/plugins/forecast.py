from sovl_tools import tool


@tool
def forecast(city, *, days: int = 1):
    return [city] * days
