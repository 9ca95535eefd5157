"""Messages without secrets: the values of the environment variables that a tool requires."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from json import dumps

from sovl_tools.model.diagnostic import Diagnostic
from sovl_tools.model.document import JSON, encodes

_LOGGER = logging.getLogger("sovl_tools")


def variables_of(requires: JSON) -> tuple[str, ...]:
    """Return the environment variables that ``requires`` of a manifest or a tool lists."""
    names = requires.get("env") if isinstance(requires, Mapping) else None
    return tuple(names) if isinstance(names, list | tuple) and all(map(_is_text, names)) else ()


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def without_values(found: Diagnostic, secrets: Iterable[str]) -> Diagnostic:
    """Return a diagnostic without the values of those environment variables."""
    names = tuple(secrets)
    advice = found.help
    return found._replace(
        message=redact(found.message, names),
        help=None if advice is None else redact(advice, names),
    )


def redact(text: str, secrets: Iterable[str]) -> str:
    """Return the text without the values of those environment variables, however written.

    Of long values not even the beginning is left, where a message has cut them.
    """
    # a message can have been redacted already: its labels are left unchanged
    names = {name: f"[{name}]" for name in secrets if encodes(name)}
    forms = {
        form: label
        for name, label in names.items()
        for form in _forms(name, os.environ.get(name, ""))
    }
    if not forms:
        return text
    # labels are searched for as well, so that a short value is not found inside one
    labels = forms | {label: label for label in names.values()}
    begins = sorted({each[:_TELLING] for each in labels}, key=len, reverse=True)
    pattern = re.compile("|".join(map(re.escape, begins)))
    parts, place = [], 0
    while found := pattern.search(text, place):
        start = found.start()
        candidates = [
            # characters are meant, not parts of paths
            (len(os.path.commonprefix([text[start:], each])), -len(each), label)  # noqa: RUF071
            for each, label in labels.items()
            if text.startswith(each[:_TELLING], start)
        ]
        # most of the text, and of two forms that are as long there the shorter one
        length, _, label = max(candidates)
        parts += [text[place:start], label]
        place = start + length
    return "".join([*parts, text[place:]])


_TELLING = 16
"""The number of characters of a value that a message shows."""


@lru_cache(100)
def _forms(name: str, value: str) -> set[str]:
    """Return the value of a variable as it can be written: plain, in Python, in JSON, in a URL."""
    parts = {value, value.strip(), *map(str.strip, value.splitlines())}
    parts = {each for each in parts if len(each) >= _LEAST}
    if not parts and value:
        words = "the value of %s has fewer than %d characters: messages are not searched for it"
        _LOGGER.warning(words, name, _LEAST)
    from urllib.parse import quote, quote_plus  # noqa: PLC0415 - for failures with secrets only

    found = set(parts)
    for each in parts:
        found |= {repr(each)[1:-1], dumps(each)[1:-1], dumps(each, ensure_ascii=False)[1:-1]}
        data = os.fsencode(each)
        found |= {quote(data), quote(data, safe=""), quote_plus(data)}
    return found


_LEAST = 6
"""Shorter values are found in ordinary words."""
