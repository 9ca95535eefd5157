def forecast(place: str | None = None, city: str | None = None):
    return place
