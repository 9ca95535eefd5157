def echo(text: str, a: int = 5):
    return text
