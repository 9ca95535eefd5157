def forecast(city: str, days: list[str] = ()):
    return [city, *days]
