import myapp.db


def echo(text: str):
    return text
