from typing import Optional


def echo(text: str, volume: Optional[int], note: 'str | None'):
    return text
