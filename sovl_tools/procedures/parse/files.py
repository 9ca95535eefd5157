"""The files of procedures, their directories, and the places in their text."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from functools import cache, partial
from typing import NamedTuple

from sovl_tools.loading.jsontext import Places, line_and_column, too_deep_at
from sovl_tools.loading.rules import text as json_rules
from sovl_tools.model.diagnostic import ManifestPlace, Position, Rule
from sovl_tools.model.document import JSON, Path
from sovl_tools.procedures.errors import UnreadableError
from sovl_tools.procedures.procedure import MAX_BYTES, MAX_DEPTH

SUFFIXES = (".yaml", ".yml", ".json")
"""The endings of names of procedures' files."""

DIRECTORY = "procedures"
"""All files in a directory of this name are procedures."""

_SKIPPED = frozenset({"build", "dist", "node_modules", "site-packages"})
_ENVIRONMENTS = frozenset({"pyvenv.cfg", "conda-meta"})
"""A file in Python's virtual environments."""

# Of YAML that can't be read: someone else's has no steps with actions at its top.
_LIKE_A_PROCEDURE = re.compile(
    rb"^steps[ ]*:(?=.*^[ ]*(?:-[ ]*)?\{?[ ]*action[ ]*:)", re.MULTILINE | re.DOTALL
)


def files(directory: str | os.PathLike[str]) -> list[str]:
    """Return the paths of the files of procedures in a directory, by name.

    Names that begin with ``.`` or ``_`` are omitted, and so are directories in it.

    Raises:
        OSError: the directory doesn't exist.
    """
    paths = (os.path.join(directory, each) for each in sorted(os.listdir(directory)))
    return [each for each in paths if _may_be(os.path.basename(each)) and not os.path.isdir(each)]


def file_beside(path: str, name: str) -> str | None:
    """Return the file of the procedure of a name in the directory of another file, if there is."""
    paths = (os.path.join(os.path.dirname(path), name + suffix) for suffix in SUFFIXES)
    return next(filter(os.path.isfile, paths), None)


def is_procedure(path: str) -> bool:
    """Return whether a file named by the user is a procedure's.

    YAML and JSON files with ``steps`` are, and all in folders called ``procedures``.
    """
    is_among_them = os.path.basename(os.path.dirname(os.path.abspath(path))) == DIRECTORY
    return path.endswith(SUFFIXES) and (is_among_them or _has_steps(path, is_named=True))


def find_procedures(directory: str) -> list[str]:
    """Return the paths of the files of procedures in a directory and below.

    They are all in folders called ``procedures``, and elsewhere the documents that have ``steps``
    of which one has an ``action``. Hidden folders and environments are omitted.
    """
    found: list[str] = []
    for folder, folders, names in os.walk(directory):
        # Their packages can have procedures that don't belong to the project.
        is_environment = not _ENVIRONMENTS.isdisjoint([*folders, *names])
        kept = [each for each in folders if each[0] not in "._" and each not in _SKIPPED]
        folders[:] = [] if is_environment else sorted(kept)
        around = os.path.basename(os.path.abspath(folder))
        for name in [] if is_environment else sorted(filter(_may_be, names)):
            path = os.path.join(folder, name)
            # Not the manifest of a tool, whose parameters can well be called steps.
            if around == DIRECTORY or (name != f"{around}.json" and _has_steps(path)):
                found.append(path)
    return found


def _may_be(name: str) -> bool:
    return name.endswith(SUFFIXES) and name[0] not in "._"


def _has_steps(path: str, *, is_named: bool = False) -> bool:
    if not os.path.isfile(path):  # opening a FIFO would wait for its writer
        return False
    try:
        with open(path, "rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError:
        return False
    # Most files are someone else's, and a check of the bytes spares the parser those.
    if b"steps" not in data or len(data) > MAX_BYTES:
        return False
    try:
        document = read(data, path=path).value
    except UnreadableError:
        return is_named or _LIKE_A_PROCEDURE.search(data) is not None
    steps = document.get("steps") if isinstance(document, dict) else None
    if is_named or not isinstance(steps, list):
        return is_named and steps is not None
    return any(isinstance(each, dict) and "action" in each for each in steps)


# What YAML 1.2 does not allow, and the line breaks of YAML 1.1 that it has abandoned.
_UNFIT = re.compile("[^\t\n\r -~\xa0-\u2027\u202a-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class Source(NamedTuple):
    """A text's value, as plain JSON.

    Attributes:
        value: the document.
        text: the text, without a byte order mark.
        locate: returns the offset of a place in it.
    """

    value: JSON
    text: str
    locate: Callable[[ManifestPlace], int]

    def place(self, path: Path, *, of_key: bool = False) -> tuple[int, int]:
        """Return line and column, from 1, of the value at a path, or of its key.

        Without a value at the path, it is the nearest value around it. The place of
        an alias is its own; its members have the places of its anchor.
        """
        start = self.locate(ManifestPlace(path, "key" if of_key else "value"))
        return line_and_column(self.text, start)


def read(text: str | bytes, *, path: str) -> Source:
    """Read a document: JSON if the path ends in ``.json``, YAML otherwise.

    Raises:
        UnreadableError: the text is neither, too large, or has values that JSON lacks.
    """
    # Lone surrogates pass, so that a rule can report their place.
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
    """Raise the rule's first finding, if it has any."""
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
    case = json_rules.ManifestText("", text.encode())
    for rule in _JSON_RULES:
        _ask(case, rule)
    places = cache(partial(Places, text))  # computed at the first use
    return Source(json.loads(text), text, lambda place: places().offset(place))


_JSON_RULES = (
    json_rules.invalid_json,
    json_rules.duplicate_key,
    json_rules.invalid_number,
    json_rules.lone_surrogate,
)


def _read_yaml(text: str) -> Source:
    from sovl_tools.procedures.parse.yaml import NotYamlError, load  # noqa: PLC0415 - 20 ms

    # PyYAML accepts some of these, and its error for others has no mark.
    unfit = _UNFIT.search(text)
    if unfit:
        message = f"the character U+{ord(unfit.group()):04X} is not allowed here"
        advice = "write it as an escape in double quotes"
        raise _unreadable(text, unfit.start(), message, advice)
    try:
        loaded = load(text)
    except NotYamlError as error:
        raise _unreadable(text, error.offset, error.message, error.help) from error
    return Source(loaded.value, text, loaded.find)
