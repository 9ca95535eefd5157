"""Values as JSON or YAML text."""

from __future__ import annotations

import json

from sovl_tools.cli.command import results
from sovl_tools.model.document import JSON
from sovl_tools.reporting.plain import is_unsafe


def serialized(value: JSON, format: str) -> str:  # noqa: A002 - the field's word
    """Return the value in ``"json"`` or ``"yaml"``, without a final newline."""
    return _yaml(value) if format == "yaml" else json_text(value, indent=2)


def json_text(value: JSON, *, indent: int | None = None) -> str:
    """Return the value as JSON text that every output can hold and every terminal can show.

    Control and direction characters are escaped, and all that is not ASCII where the output is
    not UTF-8.

    Raises:
        TypeError, ValueError, RecursionError: the value is no JSON.
    """
    is_wide = "utf" in (results().encoding or "").lower()
    text = json.dumps(value, indent=indent, ensure_ascii=not is_wide, allow_nan=False)
    return "".join(_escaped(letter) if is_unsafe(letter) else letter for letter in text)


def _escaped(letter: str) -> str:
    return letter if letter == "\n" else json.dumps(letter)[1:-1]


def _yaml(value: JSON) -> str:
    import yaml  # noqa: PLC0415 - 20 ms, only for this format

    is_safe = not any(map(is_unsafe, json.dumps(value, ensure_ascii=False)))
    text: str = yaml.safe_dump(value, sort_keys=False, allow_unicode=is_safe)
    return text.rstrip("\n")
