"""A flood."""

while True:
    print("x" * 10_000)


def echo(text: str) -> str:
    return text
