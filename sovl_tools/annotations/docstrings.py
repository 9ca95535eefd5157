"""From a docstring to descriptions: Google, NumPy, Sphinx and Epydoc styles."""

from __future__ import annotations

import inspect
import re
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple


class Documentation(NamedTuple):
    """The parts of a docstring.

    Attributes:
        description: its summary and the text below, with a blank line between; or ``""``.
        parameters: descriptions by parameter.
        returns: the description of the result, if the docstring has one.
    """

    description: str = ""
    parameters: dict[str, str] = {}  # noqa: RUF012 - it is never changed
    returns: str | None = None


_MARKS = {
    "GOOGLE": r"[A-Z]\w+:[ \t\r\f\v]*$",
    "NUMPYDOC": r"----+\s*$|\.\.\s*deprecated\s*::",
    "REST": r":",
    "EPYDOC": r"@",
}
# no line can have the marks of two
_MARK = re.compile(
    "^(?:" + "|".join(f"(?P<{style}>{mark})" for style, mark in _MARKS.items()) + ")", re.MULTILINE
)


def documentation_of(function: object) -> Documentation:
    """Return the parsed docstring of a function, or of the method it overrides.

    The parser is imported only where a line looks like the head of a section.
    """
    while isinstance(function, partial):
        function = function.func
    try:
        text = inspect.getdoc(function)
    except Exception:  # noqa: BLE001 - an object may answer to its docstring as it likes
        text = None
    return documentation_in(text or "")


def class_documentation(kind: type) -> Documentation:
    """Return the descriptions of a class's fields, with its bases'; the description is its own.

    What ``dataclass`` and ``NamedTuple`` write themselves does not count.
    """
    own = documentation_in(_own_text(kind))
    inherited = [documentation_in(_own_text(base)).parameters for base in kind.__mro__[1:-1]]
    known = {name: text for each in reversed(inherited) for name, text in each.items()}
    return own._replace(parameters={**known, **own.parameters})


def undescribed(names: list[str], documentation: Documentation) -> str:
    """Return a sentence with the parameters that have no description, and the reason."""
    is_empty = not (documentation.description or documentation.parameters)
    reason = "the function has no docstring" if is_empty else "the docstring doesn't mention "
    what = "" if is_empty else "it" if len(names) == 1 else "them"
    return f"no description for {', '.join(map(repr, names))}: {reason}{what}"


def _own_text(kind: type) -> str:
    text = vars(kind).get("__doc__")
    is_written = isinstance(text, str) and not text.startswith(f"{kind.__name__}(")
    return inspect.cleandoc(text or "") if is_written and kind.__module__ != "builtins" else ""


def documentation_in(text: str) -> Documentation:
    """Return the parts of a docstring, which is not indented."""
    text = _UNDERLINED.sub(lambda head: f"{head[1]}\n{'-' * len(head[1])}", text.strip())
    text = _FIELD.sub(r":param \2:", text)
    text, listed, unread = _entries_in(text)
    found = _read(text)
    description = "\n\n".join(filter(None, [found.description, "\n".join(unread)]))
    return found._replace(description=description, parameters={**found.parameters, **listed})


_FIELD = re.compile(
    r"^:(param|parameter|arg|argument|key|keyword)\s+(?:[^:,\n]*\s)?(\*{0,2}\w+)\s*:", re.MULTILINE
)
"""A field of Sphinx, with a type of any number of words."""
_UNDERLINED = re.compile(
    r"^((?:Other )?Parameters|Returns|Yields|Raises|Attributes):?[ \t]*\n---+[ \t]*$", re.MULTILINE
)
"""A head of NumPy's, perhaps with a colon, over dashes of any number."""
_HEAD = re.compile(
    r"(?:args|arguments|inputs?|key(?:word)?\s+arg(?:ument)?s|other\s+param(?:eter)?s|param(?:eter)?s)\s*:\s*",
    re.IGNORECASE,
)
_OTHER_HEAD = re.compile(r"[A-Z]\w+(?: \w+)?:\s*")
_ENTRY = re.compile(
    r"""
    (?:[-*+•]\s+)? (?P<names>[`*]*\w+[`*]* (?:\s*,\s*[`*]*\w+[`*]*)*) \s*
    (?:\( (?:[^()]|\([^()]*\))* \)|\[[^\]]*\])? \s* (?::|--|\u2013|\u2014|-(?=\s)) \s* (?P<text>.*)
    """,
    re.VERBOSE,
)


def _entries_in(text: str) -> tuple[str, dict[str, str], list[str]]:
    """Read the lists of parameters under heads such as ``Args:``.

    Returns:
        the text without them, the descriptions by parameter, and lines that can't be read.
    """
    rest: list[str] = []
    found: dict[str, str] = {}
    unread: list[str] = []
    lines = text.split("\n")
    while lines:
        line = lines.pop(0)
        if not _HEAD.fullmatch(line) or (lines and lines[0].startswith("---")):
            rest.append(line)
            continue
        body = _body_of(lines)
        del lines[: len(body)]
        _read_entries(body, found, unread)
    return "\n".join(rest).strip(), found, unread


def _body_of(lines: list[str]) -> list[str]:
    """Return the lines of a section that begins here."""
    is_flat = bool(lines) and not lines[0].startswith((" ", "\t"))
    for index, line in enumerate(lines):
        is_inside = line.startswith((" ", "\t")) or not line.strip()
        if is_inside and not (is_flat and not line.strip()):
            continue
        is_after_blank = index > 0 and not lines[index - 1].strip()
        if _OTHER_HEAD.fullmatch(line) or not line.strip() or is_after_blank:
            return lines[:index]
    return lines[:]


def _read_entries(body: list[str], found: dict[str, str], unread: list[str]) -> None:
    margin = next((len(line) - len(line.lstrip()) for line in body if line.strip()), 0)
    entries: list[tuple[list[str], list[str]]] = []
    for line in body:
        indent = len(line) - len(line.lstrip())
        entry = _ENTRY.fullmatch(line.strip()) if line.strip() and indent <= margin else None
        if entry is not None and (indent == margin or not entries):
            names = [name.strip(" *`") for name in entry["names"].split(",")]
            entries.append((names, [entry["text"]]))
        elif entries and (indent != margin or not line.strip()):
            entries[-1][1].append(line)
        elif line.strip() and line.strip().casefold().rstrip(".") != "none":
            unread.append(line.strip())
    for names, lines in entries:
        more = inspect.cleandoc("\n".join(["", *lines[1:]]))
        text = "\n".join(filter(None, [lines[0].strip(), more])).strip()
        found |= {name: text for name in names if text}


def _read(text: str) -> Documentation:
    """Return the result of a docstring parser."""
    marked = {found.lastgroup for found in _MARK.finditer(text)}
    styles = [style for style in _MARKS if style in marked]
    found = [parsed for style in styles if (parsed := _in_style(text, style)) is not None]
    if not found:
        return Documentation(text)
    # Marks of several styles can be in one string, as ":" in a Google docstring.
    best = max(found, key=lambda parsed: len(parsed.meta))
    described = {
        name: each.description for each in best.params for name in _names(each) if each.description
    }
    returns = best.returns.description if best.returns else None
    return Documentation((best.description or "").strip(), described, returns or None)


def _in_style(text: str, style: str) -> Any:
    """Return the result of one style's parser; None if it recognises no section."""
    from docstring_parser import DocstringStyle, parse  # noqa: PLC0415 - 30 ms
    from docstring_parser.common import DocstringMeta  # noqa: PLC0415 - likewise

    with suppress(Exception):  # the parser raises more than its ParseError on odd text
        found = parse(f"\n{text}", DocstringStyle[style])  # or its first line would not count
        is_understood = any(type(each) is not DocstringMeta for each in found.meta)
        if is_understood or (style == "NUMPYDOC" and found.meta):
            return found
    return None


def _names(parameter: Any) -> list[str]:
    """Return the parameters that an entry describes: ``a, b : float`` is about both."""
    text = parameter.arg_name or ""
    if parameter.type_name and parameter.type_name.endswith(","):
        text = f"{parameter.type_name}{text}"
    return [name.strip(" *`") for name in text.split(",")]
