"""JSON as it can be sent to a provider, and as a model sends it."""

from __future__ import annotations

import json
import math

from sovl_tools.model.document import JSON


def sendable(value: JSON) -> JSON:
    """Return a value as it can be sent, which is itself unless there is something odd in it.

    Numbers that are none become null, and halves of characters that were cut apart, as a model
    leaves them at the end of an answer that is too long, question marks.
    """
    try:
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except ValueError:
        return _cleaned(value)
    return value


def _cleaned(value: JSON) -> JSON:
    if isinstance(value, str):
        return value.encode(errors="replace").decode()
    if isinstance(value, dict):
        return {_cleaned(key): _cleaned(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_cleaned(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def arguments_of(text: str) -> dict[str, JSON]:
    """Return the arguments of a call as an object; an empty one if the text holds none."""
    try:
        made = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return made if isinstance(made, dict) else {}
