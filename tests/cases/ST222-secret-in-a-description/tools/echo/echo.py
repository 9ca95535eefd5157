def echo(text: str) -> str:
    return text
