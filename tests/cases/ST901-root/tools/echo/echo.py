"""Say something."""

from typing import Any


def echo(**arguments: Any) -> Any:
    """Say something."""
    return arguments
