def echo(text: str, volume: int, other):
    return text
