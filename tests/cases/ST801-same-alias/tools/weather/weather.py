def weather(city: str):
    return city
