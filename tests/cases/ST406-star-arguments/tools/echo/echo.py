def echo(text: str, *rest):
    return text
