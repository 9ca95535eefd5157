"""From a file or a dictionary to a procedure with its diagnostics."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import NamedTuple, TypeAlias

from sovl_tools.loading.jsontext import too_deep_at
from sovl_tools.loading.modules import code_digest
from sovl_tools.model.actions import ACTIONS
from sovl_tools.model.caller import check_path
from sovl_tools.model.catalog import Catalog
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.diagnostic import Diagnostic, ManifestPlace, Position, Verdict, ask
from sovl_tools.model.document import JSON, Path, dotted, json_text
from sovl_tools.procedures.errors import (
    ProcedureError,
    UnreadableError,
)
from sovl_tools.procedures.parse.files import (
    Source,
    file_beside,
    read,
)
from sovl_tools.procedures.procedure import MAX_BYTES, MAX_DEPTH, Procedure, Step, parse_procedure
from sovl_tools.procedures.rules import structure, variables
from sovl_tools.procedures.rules.structure import DocumentCase, Others
from sovl_tools.procedures.rules.variables import case_of
from sovl_tools.schema.engine import published


class ProcedureDocument(NamedTuple):
    """A procedure as someone wrote it.

    Attributes:
        procedure: None if it does not match the schema.
        verdicts: the findings of the document.
        path: of the file; ``""`` for a dictionary.
        place: returns the line and column of a value; None for a dictionary; see ``Source``.
        name: what diagnostics call it while there's no procedure.
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
            ProcedureError: it can't be read, or does not match the schema.
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
        for verdict in verdicts:
            place, line, column = verdict.finding.place, 1, 1
            if isinstance(place, Position):  # a string that can't be read has no values yet
                line, column = place.line, place.column
            elif isinstance(place, ManifestPlace) and self.place is not None:
                line, column = self.place(place.path, of_key=place.of == "key")
            diagnostic = verdict.at(self.path, line, column, tool=name)
            if self.place is None and isinstance(place, ManifestPlace) and place.path:
                # a dictionary has no lines, so the message has the place
                message = f"{diagnostic.message}, at {dotted(place.path)!r}"
                diagnostic = diagnostic._replace(message=message)
            found.append(diagnostic)
        return tuple(sorted(found, key=lambda each: (each.line, each.column, each.code)))


def read_procedure(source: str | os.PathLike[str] | Mapping[str, JSON]) -> ProcedureDocument:
    """Return the procedure of a file, or of a dictionary.

    Raises:
        OSError: the file doesn't exist, or can't be read.
        TypeError, ValueError: there is something in the dictionary that isn't JSON.
    """
    if isinstance(source, Mapping):
        # Through its text: a private copy, which is also the journal's.
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
    """Return the procedure of a file that was found, or that this can't be read."""
    try:
        return read_procedure(path)
    except OSError as error:
        reason = f"the file can't be opened: {error.strerror}"
        return _unreadable(path, UnreadableError(reason, 1, 1))


def _unreadable(path: str, error: UnreadableError) -> ProcedureDocument:
    return ProcedureDocument(None, ask((structure.unreadable_procedure,), error), path, None)


def _check_document(
    value: JSON, text: str, path: str, place: Callable[[Path], tuple[int, int]] | None
) -> ProcedureDocument:
    case = DocumentCase(value, published("procedure").problems(value), path)
    verdicts = ask(structure.DOCUMENT_RULES, case)
    if case.problems:
        # The file's name identifies it, but a dictionary doesn't have one.
        found = value.get("name") if not path and isinstance(value, dict) else None
        return ProcedureDocument(
            None, verdicts, path, place, found if isinstance(found, str) else None
        )
    # An invalid schema of the inputs is reported once, without its consequences.
    if any(each.rule is structure.invalid_inputs for each in verdicts):
        value = {**value, "inputs": {"type": "object", "additionalProperties": True}}
    return ProcedureDocument(parse_procedure(value, text=text, source=path), verdicts, path, place)


def check_procedure(
    source: ProcedureDocument, catalog: Catalog | None, others: Others | None = None
) -> tuple[Diagnostic, ...]:
    """Return all problems of a procedure, without its inner procedures'.

    ``catalog`` has the tools and step handlers; None if they are unknown. ``others`` finds other
    procedures by their names; unless it is given, they are those next to the file.
    """

    @cache  # several rules use it
    def beside(name: str) -> Procedure | None:
        path = file_beside(source.path, name) if source.path else None
        return None if path is None else read_found_procedure(path).procedure

    verdicts = list(source.verdicts)
    if source.procedure is not None:
        case = case_of(source.procedure, catalog, others or beside)
        verdicts += ask((*structure.STEP_RULES, *variables.RULES), case)
    return source.diagnostics(verdicts)


Named: TypeAlias = str | os.PathLike[str] | Mapping[str, JSON] | ProcedureDocument
"""A procedure: its file's path, a dictionary, the name of an added one, or itself."""


_MARKS = re.compile(r"\[\d+\]|~\d+")
"""Iterations and attempts in the key of a step."""


class LinkedProcedures(NamedTuple):
    """A procedure and its inner procedures, directly or not.

    Attributes:
        first: the procedure.
        others: by the path of the outer one, and by name.
    """

    first: Procedure
    others: Mapping[tuple[str, str], Procedure]

    def other(self, asking: Procedure, name: str) -> Procedure:
        """Return the procedure that another runs by a name."""
        return self.others[asking.source, name]

    @property
    def members(self) -> tuple[Procedure, ...]:
        """All procedures, each once."""
        every = {id(each): each for each in (self.first, *self.others.values())}
        return tuple(every.values())

    def step(self, key: str) -> Step | None:
        """Return the step of a key, see ``Scope``, unless procedures have changed too much."""
        # As in steps.1/other:steps.0: the last procedure and the place in it.
        around, _, place = key.rpartition(":")
        name = around.rpartition("/")[2] or self.first.name
        path = _MARKS.sub("", place)
        for member in self.members:
            for step in member.every_step() if member.name == name else ():
                if ".".join(map(str, step.path)) == path:
                    return step
        return None


OTHER = "procedure "
"""The prefix of another procedure's name, where tools have names, too."""


def fingerprints(linked: LinkedProcedures, catalog: Catalog) -> dict[str, str]:
    """Return hashes of a run's parts: by name the tools, and the inner procedures.

    Tools are the called ones, and those with a called step handler.

    The hash of a tool covers its definition, and the modules in its folder.
    """
    steps = [step for member in linked.members for step in member.every_step()]
    names = {step.fields["tool"] for step in steps if step.action == "tool"}
    for action in {step.action for step in steps} - ACTIONS.keys():
        owner = tool_of_action(catalog, action)
        names |= set() if owner is None else {owner.name}
    prints: dict[str, str] = {}
    for name in sorted({*map(catalog.named, names)} & catalog.tools.keys()):
        tool = catalog.tools[name]
        said = json.dumps([tool.description, tool.parameters], default=repr, sort_keys=True)
        prints[name] = _hash(f"{code_digest(tool)}\n{said}")
    return prints | {f"{OTHER}{each.name}": _hash(each.text) for each in linked.members[1:]}


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def tool_of_action(catalog: Catalog, action: str) -> ToolDefinition | None:
    """Return the tool whose step handler does an action."""
    return next((tool for tool in catalog.tools.values() if action in tool.step_handlers), None)
