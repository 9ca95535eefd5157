def echo(text: str, volumes: int = 1):
    return text
