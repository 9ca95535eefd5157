import dataclasses


def echo(text: str = dataclasses.field(default="hello")):
    return text
