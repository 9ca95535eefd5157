def echo(text: str, volume: int = 2):
    return text
