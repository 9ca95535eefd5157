"""Values for a tool or a procedure, as they are given on the command line."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from sovl_tools.cli.command import Misuse
from sovl_tools.model.document import JSON


def paired(pairs: Sequence[str], properties: Mapping[str, JSON]) -> dict[str, JSON]:
    """Return ``KEY=VALUE`` pairs as an object, each value read as its schema wants it.

    Raises:
        Misuse: a pair is none, or a key is there twice.
    """
    found: dict[str, JSON] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key:
            raise Misuse(f"{pair!r} is not KEY=VALUE")
        if key in found:
            raise Misuse(f"{key!r} is given twice")
        found[key] = _value(value, properties.get(key))
    return found


def _value(text: str, schema: JSON) -> JSON:
    """Read a value as its schema wants it; what is no JSON is text, and the check will say so."""
    kinds = schema.get("type") if isinstance(schema, dict) else None
    if kinds == "string":
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def given(text: str, option: str) -> str:
    """Return the JSON text that an option names: itself, ``@FILE``, or ``-`` for the input.

    Raises:
        Misuse: there is no such file, or no input.
    """
    if text == "-":
        if sys.stdin is None:
            raise Misuse(f"{option} -: there is no standard input")
        return sys.stdin.read()
    if text.startswith("@"):
        try:
            return Path(text[1:]).read_text(encoding="utf-8")
        except (OSError, ValueError) as error:
            raise Misuse(f"{option} {text}: {error}") from error
    return text
