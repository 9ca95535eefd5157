from typing import Literal, Optional


def echo(text: Literal[1, 2], volume: Optional[int]):
    return text
