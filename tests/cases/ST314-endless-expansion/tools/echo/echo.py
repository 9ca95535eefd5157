def echo(text: str, **others):
    return text
