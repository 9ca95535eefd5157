from typing import Literal


def echo(
    text: str,
    tone: Literal["calm", "loud"] = "calm",
    times: int = 1,
    volume: int = 5,
    _log: list | None = None,
):
    return text
