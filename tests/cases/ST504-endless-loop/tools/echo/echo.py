"""A loop."""

while True: pass


def echo(text: str) -> str:
    return text
