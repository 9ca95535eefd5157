def forecast(city: str):
    return city
