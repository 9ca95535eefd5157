"""A loop."""

exec("while True: pass")


def echo(text: str) -> str:
    return text
