"""ST2xx, first part: the manifest as text."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from contextlib import suppress
from functools import cached_property

from sovl_tools.loading.jsontext import line_and_column, members, too_deep_at
from sovl_tools.model.diagnostic import Finding, ManifestPlace, Position, rule
from sovl_tools.model.document import JSON, MAX_DEPTH, encodes
from sovl_tools.schema.problem import named

_MAX_DIGITS = 4300
_BYTE_ORDER_MARK = "\ufeff"
_WIDE_ENCODINGS = {
    b"\xff\xfe": "UTF-16",
    b"\xfe\xff": "UTF-16",
    b"{\x00": "UTF-16",
    b"\x00{": "UTF-16",
}


class ManifestText:
    """A manifest's bytes, and its text if they are UTF-8."""

    def __init__(self, name: str, data: bytes) -> None:
        self.name = name
        self.data = data

    @cached_property
    def text(self) -> str:
        """The text without its byte order mark; invalid bytes are replaced."""
        return self.data.decode(errors="replace").removeprefix(_BYTE_ORDER_MARK)

    def at(self, offset: int) -> Position:
        """Return the place of an offset in the text."""
        return Position(self.name, *line_and_column(self.text, offset))


@rule("ST203")
def invalid_encoding(case: ManifestText) -> Iterator[Finding]:
    """The manifest isn't UTF-8 text.

    JSON files are UTF-8 (RFC 8259, section 8.1). UTF-16 files are from Windows editors and from
    PowerShell's redirection, single bad bytes from Latin-1 text. Save the file as UTF-8.
    """
    wide = _WIDE_ENCODINGS.get(case.data[:2])
    if wide:
        yield Finding(Position(case.name), f"the file is {wide}", "save it as UTF-8")
        return
    try:
        case.data.decode()
    except UnicodeDecodeError as error:
        place = case.at(len(case.data[: error.start].decode().removeprefix(_BYTE_ORDER_MARK)))
        byte = case.data[error.start]
        yield Finding(place, f"byte 0x{byte:02x} is not UTF-8", "save the file as UTF-8")


@rule("ST204", "warning")
def byte_order_mark(case: ManifestText) -> Iterator[Finding]:
    """The manifest begins with a byte order mark.

    RFC 8259 forbids it, and many parsers reject it; this one skips it. Save the file as UTF-8
    without a byte order mark ("UTF-8", not "UTF-8 with BOM").
    """
    if case.data.startswith(_BYTE_ORDER_MARK.encode()):
        message = "the file begins with a byte order mark"
        yield Finding(Position(case.name), message, "save it as UTF-8 without one")


@rule("ST207")
def nested_too_deep(case: ManifestText) -> Iterator[Finding]:
    """Objects and arrays are nested more than 64 levels deep.

    Models don't understand such a schema, providers reject much less, and parsers run out of stack.
    Flatten the schema; use ``$defs`` and ``$ref`` for repeated parts.
    """
    offset = too_deep_at(case.text, MAX_DEPTH)
    if offset is not None:
        message = f"objects and arrays are nested more than {MAX_DEPTH} levels deep"
        yield Finding(case.at(offset), message, "flatten it, or use $defs and $ref")


@rule("ST201")
def invalid_json(case: ManifestText) -> Iterator[Finding]:
    """The manifest isn't JSON.

    The message names the place where the parser stops, which can be just after the mistake: a
    missing comma or quote, a trailing comma, a comment, single quotes. JSON (RFC 8259) is stricter
    than JavaScript and Python.
    """
    try:
        json.loads(case.text, parse_constant=str, parse_int=str, parse_float=str)
    except json.JSONDecodeError as error:
        before, rest = case.text[: error.pos].rstrip(), case.text[error.pos :].lstrip()
        if error.msg.startswith("Illegal trailing comma"):  # since Python 3.13
            before, rest = case.text[: error.pos + 1], case.text[error.pos + 1 :].lstrip()
        if before.endswith(",") and rest[:1] in {"}", "]"}:
            message = f"there is a trailing comma before {rest[0]!r}"
            yield Finding(case.at(len(before) - 1), message, "remove the comma")
        else:
            yield Finding(case.at(error.pos), *_words(case.text, error))


def _words(text: str, error: json.JSONDecodeError) -> tuple[str, str | None]:
    rest = text[error.pos :]
    if not text.strip():
        return "the file is empty", "write a manifest; the README shows the smallest one"
    if not rest.strip():
        return "the text ends too early", "close the open brackets"
    for sign, words in _FOREIGN.items():
        if rest.startswith(sign):
            return words
    if is_after_quote(text, error.pos):
        return QUOTE_INSIDE
    known = (words for start, words in _MISTAKES.items() if error.msg.startswith(start))
    return next(known, (f"this is not JSON: {error.msg}", None))


def is_after_quote(text: str, offset: int) -> bool:
    """Return whether a word follows the end of a string directly, as in ``"a "b" c"``."""
    return 0 < offset < len(text) and text[offset - 1] == '"' and text[offset].isalnum()


QUOTE_INSIDE = "the quotation mark before this ends the string", r"write \" for one inside it"

_COMMENT = "there is a comment, which JSON does not have", "remove it"
_FOREIGN: dict[str, tuple[str, str | None]] = {
    "//": _COMMENT,
    "/*": _COMMENT,
    "#": _COMMENT,
    "'": ("there are single quotes", 'put strings in double quotes: "…"'),
    "True": ("'True' is Python", "write true"),
    "False": ("'False' is Python", "write false"),
    "None": ("'None' is Python", "write null"),
}
_MISTAKES: dict[str, tuple[str, str | None]] = {
    "Expecting ',' delimiter": ("a comma is missing before this", None),
    "Expecting ':' delimiter": ("a colon is missing after the key", None),
    "Expecting property name": ("a key must be a string in double quotes", None),
    "Expecting value": ("a value is missing here", None),
    "Unterminated string": ("the string does not end", "close it with a double quote"),
    "Invalid control character": (
        "a string contains a raw line break or control character",
        r"write \n for a line break",
    ),
    "Invalid \\": ("the backslash begins no escape that JSON has", "write it twice"),
    "Extra data": ("something follows the end of the document", "remove it"),
}


@rule("ST205")
def duplicate_key(case: ManifestText) -> Iterator[Finding]:
    """An object has the same key twice.

    Parsers silently keep the last value, so a reader sees a different one. Remove one of the two,
    or merge them.
    """
    for member in members(case.text):
        if member.repeated:
            place = ManifestPlace(member.path, "key", member.occurrence)
            yield Finding(place, f"the key {member.path[-1]!r} appears a second time")


@rule("ST206")
def invalid_number(case: ManifestText) -> Iterator[Finding]:
    """A number isn't valid in JSON: NaN, an infinity, or too large.

    ``NaN`` and ``Infinity`` are JavaScript. A parser reads ``1e999`` as infinity, and Python
    rejects more than 4,300 digits. No provider accepts them. Write a finite number, or remove the
    bound.
    """
    for member in members(case.text):
        token = member.token
        is_unfit = token in {"NaN", "Infinity", "-Infinity"}
        is_unfit = is_unfit or (len(token) > _MAX_DIGITS and token[0] != '"')
        if not is_unfit and token[0] in "-0123456789":
            with suppress(ValueError):  # it isn't a number at all, which another rule reports
                is_unfit = not math.isfinite(float(token))
        if is_unfit:
            place = ManifestPlace(member.path, "value", member.occurrence)
            yield Finding(place, f"{token[:40]} is not a JSON number")


@rule("ST208")
def not_an_object(case: ManifestText) -> Iterator[Finding]:
    """The manifest is JSON, but not an object.

    A manifest is an object with at least ``name``, ``description`` and ``parameters``. Each tool
    has its own folder.
    """
    document = _lenient(case.text)
    if document is not None and not isinstance(document[0], dict):
        place = ManifestPlace()
        yield Finding(place, f"the manifest is {named(document[0])}, not an object")


@rule("ST213")
def lone_surrogate(case: ManifestText) -> Iterator[Finding]:
    r"""A string contains half of a surrogate pair.

    ``\ud83d`` without its other half isn't a character and can't be encoded, so sending it to a
    provider fails. Write the character itself, or both halves.
    """
    for member in members(case.text):
        key = member.path[-1] if member.path else 0
        if isinstance(key, str) and not encodes(key):
            place = ManifestPlace(member.path, "key", member.occurrence)
            yield Finding(place, "the key contains half of a surrogate pair")
        if member.token[0] == '"' and not encodes(*(_lenient(member.token) or ("",))):
            place = ManifestPlace(member.path, "value", member.occurrence)
            yield Finding(place, "the string contains half of a surrogate pair")


def _lenient(text: str) -> tuple[JSON] | None:
    """Return the parsed text in a tuple; None if it isn't JSON."""
    try:
        return (json.loads(text, parse_constant=str, parse_int=str, parse_float=str),)
    except (ValueError, RecursionError):
        return None


ENCODING_RULES = (invalid_encoding, byte_order_mark, nested_too_deep)
SYNTAX_RULES = (invalid_json,)
CONTENT_RULES = (duplicate_key, invalid_number, not_an_object, lone_surrogate)
