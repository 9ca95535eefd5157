"""A wait."""

import threading

threading.Event().wait()


def echo(text: str) -> str:
    return text
