"""From a file or a dictionary to a procedure with its diagnostics, and procedures by name.

By name are found those that somebody has added, and those in files beside one that runs.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import NamedTuple, TypeAlias

from sovl_tools.loading.jsontext import too_deep_at
from sovl_tools.model.caller import check_path
from sovl_tools.model.catalog import Catalog
from sovl_tools.model.diagnostic import Diagnostic, ManifestPlace, Verdict, ask
from sovl_tools.model.document import JSON, Path, dotted, json_text
from sovl_tools.model.suggestion import nearest
from sovl_tools.procedures.errors import (
    ProcedureError,
    ProcedureNotFoundError,
    UnreadableError,
)
from sovl_tools.procedures.parse.files import (
    SUFFIXES,
    Source,
    file_beside,
    files,
    read,
)
from sovl_tools.procedures.procedure import MAX_BYTES, MAX_DEPTH, Procedure, parse_procedure
from sovl_tools.procedures.rules import structure, variables
from sovl_tools.procedures.rules.structure import DocumentCase, Others
from sovl_tools.procedures.rules.variables import case_of
from sovl_tools.schema.engine import published


class ProcedureDocument(NamedTuple):
    """A procedure as somebody wrote it.

    Attributes:
        procedure: None if it does not fit the schema.
        verdicts: what was found in the document.
        path: of the file; ``""`` for a dictionary.
        place: returns the line and column of a value; None for a dictionary; see ``Source``.
        name: what diagnostics call it while there is no procedure.
    """

    procedure: Procedure | None
    verdicts: list[Verdict]
    path: str
    place: Callable[..., tuple[int, int]] | None
    name: str | None = None

    @property
    def runs(self) -> tuple[str, ...]:
        """The names of the procedures that it runs."""
        steps = () if self.procedure is None else self.procedure.every_step()
        return tuple(each.fields["procedure"] for each in steps if each.action == "procedure")

    def sound(self) -> Procedure:
        """Return the procedure.

        Raises:
            ProcedureError: it can't be read, or does not fit the schema.
        """
        errors = [each for each in self.verdicts if each.rule.severity == "error"]
        if errors or self.procedure is None:
            raise ProcedureError(self.diagnostics(errors))
        return self.procedure

    def diagnostics(self, verdicts: Iterable[Verdict]) -> tuple[Diagnostic, ...]:
        """Return verdicts with their places, in the order of those."""
        name = self.name if self.procedure is None else self.procedure.name
        name = name or os.path.splitext(os.path.basename(self.path))[0]
        name = name or "a procedure without a name"
        found: list[Diagnostic] = []
        for rule, finding in verdicts:
            line, column, message = 1, 1, finding.message
            if not isinstance(finding.place, ManifestPlace):
                # A text that can't be read has no values yet, only lines.
                line, column = finding.place.line, finding.place.column  # type: ignore[union-attr]
            elif self.place is not None:
                is_key = finding.place.of == "key"
                line, column = self.place(finding.place.path, of_key=is_key)
            elif finding.place.path:  # a dictionary has no lines, so the message says where
                message = f"{message}, at {dotted(finding.place.path)!r}"
            found.append(
                Diagnostic(
                    rule.code, rule.severity, message, finding.help, name, self.path, line, column
                )
            )
        return tuple(sorted(found, key=lambda each: (each.line, each.column, each.code)))


def read_procedure(source: str | os.PathLike[str] | Mapping[str, JSON]) -> ProcedureDocument:
    """Return the procedure of a file, or of a dictionary.

    Raises:
        OSError: there is no such file, or it can't be read.
        TypeError, ValueError: there is something in the dictionary that is no JSON.
    """
    if isinstance(source, Mapping):
        # By way of its text: a copy that nobody else can change, and what a journal keeps.
        text = json_text(dict(source))
        if too_deep_at(text, MAX_DEPTH) is not None:
            raise ValueError(f"values are nested more than {MAX_DEPTH} levels deep")
        return _check_document(json.loads(text), text, "", None)
    path = check_path("source", source)
    with open(path, "rb") as file:
        content = file.read(MAX_BYTES + 1)  # a device may never end
    try:
        found: Source = read(content, path=path)
    except UnreadableError as error:
        return _unreadable(path, error)
    return _check_document(found.value, found.text, path, found.place)


def read_found_procedure(path: str) -> ProcedureDocument:
    """Return the procedure of a file that was found, or that this can't be read.

    Nothing else than a plain file is opened: a FIFO would have to be waited for.
    """
    try:
        # What is gone meanwhile is opened as well, for the words of the operating system.
        if os.path.isfile(path) or not os.path.exists(path):
            return read_procedure(path)
        reason = "it is no plain file"
    except OSError as error:
        reason = f"{error.strerror}"
    return _unreadable(path, UnreadableError(f"the file can't be opened: {reason}", 1, 1))


def _unreadable(path: str, error: UnreadableError) -> ProcedureDocument:
    return ProcedureDocument(None, ask((structure.unreadable_procedure,), error), path, None)


def _check_document(
    value: JSON, text: str, path: str, place: Callable[[Path], tuple[int, int]] | None
) -> ProcedureDocument:
    case = DocumentCase(value, published("procedure").problems(value), path)
    verdicts = ask(structure.DOCUMENT_RULES, case)
    if case.problems:
        # The file's name says which it is, but a dictionary has none.
        found = value.get("name") if not path and isinstance(value, dict) else None
        return ProcedureDocument(
            None, verdicts, path, place, found if isinstance(found, str) else None
        )
    # An unsound schema of the inputs is reported once, and nothing else is blamed on it.
    if any(each.rule is structure.invalid_inputs for each in verdicts):
        value = {**value, "inputs": {"type": "object", "additionalProperties": True}}
    return ProcedureDocument(parse_procedure(value, text=text, source=path), verdicts, path, place)


def checked(
    source: ProcedureDocument, catalog: Catalog | None, others: Others
) -> tuple[Diagnostic, ...]:
    """Return what is wrong with a procedure, all at once.

    ``catalog`` has the tools and step handlers; None if they are not known.
    """
    verdicts = list(source.verdicts)
    if source.procedure is not None:
        case = case_of(source.procedure, catalog, others)
        verdicts += ask((*structure.STEP_RULES, *variables.RULES), case)
    return source.diagnostics(verdicts)


Named: TypeAlias = str | os.PathLike[str] | Mapping[str, JSON] | ProcedureDocument
"""A procedure: its file's path, a dictionary, the name of one that was added, or itself."""


class LinkedProcedures(NamedTuple):
    """A procedure and those that it runs, directly or not.

    Attributes:
        first: the procedure.
        others: by the path of the one that runs them, and by name.
    """

    first: Procedure
    others: Mapping[tuple[str, str], Procedure]

    def other(self, asking: Procedure, name: str) -> Procedure:
        """Return the procedure that another one runs by a name."""
        return self.others[asking.source, name]

    @property
    def members(self) -> tuple[Procedure, ...]:
        """All procedures, each once."""
        every = {id(each): each for each in (self.first, *self.others.values())}
        return tuple(every.values())


class Library:
    """Finds procedures and says what is wrong with them."""

    def __init__(self) -> None:
        self._added: dict[str, ProcedureDocument] = {}

    @property
    def procedures(self) -> dict[str, Procedure]:
        """Those that were added, by name."""
        found = {name: each.procedure for name, each in self._added.items()}
        return {name: each for name, each in found.items() if each is not None}

    def add(self, source: Named) -> Procedure:
        """Add a procedure; return it.

        Raises:
            ProcedureError: it can't be read, or does not fit the schema.
            OSError: there is no such file.
        """
        found = source if isinstance(source, ProcedureDocument) else read_procedure(source)
        procedure = found.sound()
        self._added[procedure.name] = found
        return procedure

    def add_directory(self, path: str | os.PathLike[str]) -> tuple[Diagnostic, ...]:
        """Add the procedures of a directory; return what is wrong with those that can't be.

        Raises:
            OSError: there is no such directory.
        """
        wrong: list[Diagnostic] = []
        for file in files(path):
            try:
                self.add(read_found_procedure(file))
            except ProcedureError as error:
                wrong += error.diagnostics
        return tuple(wrong)

    def find(self, source: Named) -> ProcedureDocument:
        """Return a procedure.

        Raises:
            ProcedureNotFoundError: none of that name was added.
            OSError: there is no such file.
        """
        if isinstance(source, ProcedureDocument):
            return source
        if not isinstance(source, str):
            return read_procedure(source)
        if source in self._added:
            return self._added[source]
        # A text that looks like a path is opened, so that the error names the file.
        if not source.endswith(SUFFIXES) and not os.path.exists(source):
            raise ProcedureNotFoundError(source, nearest(source, self._added))
        return read_procedure(source)

    def checked(self, first: ProcedureDocument, catalog: Catalog | None) -> tuple[Diagnostic, ...]:
        """Return what is wrong with a procedure, but not with those that it runs."""

        @cache  # several rules ask for the same
        def other(name: str) -> Procedure | None:
            place = self._place(first, name)
            found = read_found_procedure(place) if isinstance(place, str) else place
            return None if found is None else found.procedure

        return checked(first, catalog, other)

    def link(self, first: ProcedureDocument, catalog: Catalog) -> LinkedProcedures:
        """Return a procedure with all that it runs, and what those run in turn.

        Raises:
            ProcedureError: one of them is unsound.
        """
        related: dict[tuple[str, str], ProcedureDocument] = {}
        # Each file is read once, so that a procedure is the same object for all callers.
        pending, reading = [first], cache(read_found_procedure)
        while pending:
            asking = pending.pop()
            for name in asking.runs:
                place = None if (asking.path, name) in related else self._place(asking, name)
                if place is not None:
                    other = reading(place) if isinstance(place, str) else place
                    related[asking.path, name] = other
                    pending.append(other)
        # By identity: a procedure may be found by several names and from several others.
        every = {id(each): each for each in (first, *related.values())}
        found = [each for member in every.values() for each in self.checked(member, catalog)]
        errors = [each for each in found if each.severity == "error"]
        if errors:
            raise ProcedureError(errors)
        return LinkedProcedures(first.sound(), {key: each.sound() for key, each in related.items()})

    def _place(self, asking: ProcedureDocument, name: str) -> ProcedureDocument | str | None:
        """Return a procedure that was added, or the path of one beside that which asks."""
        if name in self._added:  # wins over the file beside, as it does for who runs one by name
            return self._added[name]
        return file_beside(asking.path, name) if asking.path else None
