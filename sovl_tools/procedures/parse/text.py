"""From the text of a procedure, YAML or JSON, to a value whose places can be found again."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple

from sovl_tools.loading.jsontext import Places, line_and_column, too_deep_at
from sovl_tools.loading.rules import text as json_rules
from sovl_tools.model.diagnostic import ManifestPlace, Position, Rule
from sovl_tools.model.document import JSON, Path
from sovl_tools.model.errors import SovlToolsError
from sovl_tools.procedures.model import MAX_BYTES, MAX_DEPTH, MAX_VALUES

_STRING = re.compile(r'"(?:[^"\\]|\\.)*"?', re.DOTALL)
# What YAML 1.2 does not allow, and the line breaks of YAML 1.1 that it has given up.
_UNFIT = re.compile("[^\t\n\r -~\xa0-\u2027\u202a-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class UnreadableError(SovlToolsError, ValueError):
    """A text of which no value can be made.

    Attributes:
        message: what is there.
        line: where, from 1.
        column: where, in characters from 1.
        help: what would be right, as an imperative; None where that can't be told.
    """

    def __init__(self, message: str, line: int, column: int, advice: str | None = None) -> None:
        super().__init__(message, line, column, advice)
        self.message = message
        self.line = line
        self.column = column
        self.help = advice

    def __str__(self) -> str:
        advice = f"; {self.help}" if self.help else ""
        return f"{self.line}:{self.column}: {self.message}{advice}"


class Source(NamedTuple):
    """What a text says, as plain JSON.

    Attributes:
        value: the document.
        text: what was read, without a byte order mark.
        locate: returns the offset of a place in it.
    """

    value: JSON
    text: str
    locate: Callable[[ManifestPlace], int]

    def place(self, path: Path, *, of_key: bool = False, text_line: int = 1) -> tuple[int, int]:
        """Return line and column, from 1, of the value at a path, or of its key.

        Of a text that is written as a block it is that of one of its lines, if that is given. Where
        nothing stands at the path, it is that of the nearest value around it. An alias stands where
        it is written, what is in it where its anchor is.
        """
        start = self.locate(ManifestPlace(path, "key" if of_key else "value"))
        line, column = line_and_column(self.text, start)
        # Only of a literal block does each line of the value have a line in the file.
        if text_line == 1 or self.text[start : start + 1] != "|":
            return line, column
        shown = self.text.split("\n")[line + text_line - 1]
        return line + text_line, 1 + len(shown) - len(shown.lstrip())


def read(text: str | bytes, *, path: str) -> Source:
    """Read a document: JSON if the path ends in ``.json``, YAML otherwise.

    Raises:
        UnreadableError: the text is neither, too large, or has what JSON can't hold.
    """
    # Lone surrogates pass, so that a rule can say where one is.
    data = text.encode(errors="surrogatepass") if isinstance(text, str) else text
    if len(data) > MAX_BYTES:
        message = f"the text has more than {MAX_BYTES:,} bytes"
        raise UnreadableError(message, 1, 1)
    case = json_rules.ManifestText("", data)
    _ask(case, json_rules.invalid_encoding)
    if not case.text.strip():
        raise UnreadableError("the file is empty", 1, 1)
    return (_read_json if path.lower().endswith(".json") else _read_yaml)(case.text)


def _ask(case: json_rules.ManifestText, rule: Rule) -> None:
    """Raise what the rule finds first, if it finds anything."""
    for finding in rule.check(case):
        place = finding.place
        if isinstance(place, ManifestPlace):
            raise _unreadable(case.text, Places(case.text).offset(place), *finding[1:3])
        line, column = (place.line, place.column) if isinstance(place, Position) else (1, 1)
        raise UnreadableError(finding.message, line, column, finding.help)


def _unreadable(text: str, offset: int, message: str, advice: str | None = None) -> UnreadableError:
    return UnreadableError(message, *line_and_column(text, offset), advice)


def _read_json(text: str) -> Source:
    """Read JSON (RFC 8259) as manifests are read: keys are unique, numbers finite."""
    offset = too_deep_at(text, MAX_DEPTH)
    if offset is not None:
        raise _unreadable(text, offset, f"values are nested more than {MAX_DEPTH} levels deep")
    # Before anything is parsed: there are about as many values as commas outside of strings.
    if _STRING.sub("", text).count(",") >= MAX_VALUES:
        raise UnreadableError(f"the file has more than {MAX_VALUES:,} values", 1, 1)
    case = json_rules.ManifestText("", text.encode())
    for rule in _JSON_RULES:
        _ask(case, rule)
    try:
        return Source(json.loads(text), text, _JsonSpots(text).offset)
    except json.JSONDecodeError as error:
        # The rules are those of manifests, which are less deep and need no words for this.
        raise _unreadable(text, error.pos, f"this is not JSON: {error.msg}") from error


_JSON_RULES = (
    json_rules.invalid_json,
    json_rules.duplicate_key,
    json_rules.invalid_number,
    json_rules.lone_surrogate,
)


class _JsonSpots:
    """Where values of a JSON text stand, found when somebody asks first."""

    def __init__(self, text: str) -> None:
        self._text = text

    @cached_property
    def _places(self) -> Places:
        return Places(self._text)

    def offset(self, place: ManifestPlace) -> int:
        return self._places.offset(place)


def _read_yaml(text: str) -> Source:
    from sovl_tools.procedures.parse.yaml import NotYamlError, load  # noqa: PLC0415 - 20 ms

    # PyYAML lets some of these pass, and its error for the others has no mark.
    unfit = _UNFIT.search(text)
    if unfit:
        message = f"the character U+{ord(unfit.group()):04X} may not stand here"
        advice = "write it as an escape in double quotes"
        raise _unreadable(text, unfit.start(), message, advice)
    try:
        loaded = load(text)
    except NotYamlError as error:
        raise _unreadable(text, error.offset, error.message, error.help) from error
    return Source(loaded.value, text, loaded.find)
