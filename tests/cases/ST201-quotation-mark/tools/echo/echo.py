def echo(text: str):
    return text
