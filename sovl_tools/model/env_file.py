"""Files of environment variables, as ``.env``."""

from __future__ import annotations

import re

_LINE = re.compile(r"(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*)")
_QUOTED = re.compile(r"""(?:'([^']*)'|"((?:[^"\\]|\\.)*)")\s*(?:#.*)?""")
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r"}


def parse_env(text: str) -> dict[str, str]:
    """Return the variables in a string of lines such as ``NAME=value``.

    Values can be in single or double quotes, and `` #`` begins a comment. Variables aren't
    expanded.

    Raises:
        ValueError: a line is something else; the message has its number.
    """
    found: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        if not stripped or stripped.startswith("#"):
            continue
        match = _LINE.fullmatch(stripped)
        value = None if match is None else _value(match[2])
        if match is None or value is None:
            raise ValueError(f"line {number} is not NAME=value")
        found[match[1]] = value
    return found


def _value(text: str) -> str | None:
    if text[:1] not in ("'", '"'):
        return re.split(r"(?:^|\s)#", text, maxsplit=1)[0].strip()
    match = _QUOTED.fullmatch(text)
    if match is None:
        return None
    if match[1] is not None:
        return match[1]
    return re.sub(r"\\(.)", lambda each: _ESCAPED.get(each[1], each[1]), match[2])
