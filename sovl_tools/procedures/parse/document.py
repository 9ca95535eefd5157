"""From a file, or a dictionary, to a procedure, with the diagnostics of what is wrong."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from sovl_tools.model.catalog import Catalog
from sovl_tools.model.diagnostic import Diagnostic, ManifestPlace, Verdict, ask
from sovl_tools.model.document import JSON, Path, dotted
from sovl_tools.procedures.errors import ProcedureError
from sovl_tools.procedures.model import MAX_BYTES, Procedure, made
from sovl_tools.procedures.parse.text import Source, UnreadableError, read
from sovl_tools.procedures.rules import arguments, document, flow, variables
from sovl_tools.procedures.rules.document import ReadingCase
from sovl_tools.procedures.rules.environment import DocumentCase, Others, ProcedureCase, traced
from sovl_tools.schema.engine import published

RULES = (*flow.RULES, *variables.RULES, *arguments.RULES)
"""What is asked of a procedure that fits the schema."""


class Written(NamedTuple):
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
        found = (self._diagnostic(each) for each in verdicts)
        return tuple(sorted(found, key=lambda each: (each.line, each.column, each.code)))

    def _diagnostic(self, verdict: Verdict) -> Diagnostic:
        rule, finding = verdict
        name = self.name if self.procedure is None else self.procedure.name
        name = (
            name or os.path.splitext(os.path.basename(self.path))[0] or "a procedure without a name"
        )
        line, column, message = 1, 1, finding.message
        if not isinstance(finding.place, ManifestPlace):
            line, column = finding.place.line, finding.place.column  # type: ignore[union-attr]
        elif self.place is not None:
            is_key = finding.place.of == "key"
            line, column = self.place(finding.place.path, of_key=is_key)
        elif finding.place.path:
            message = f"{message}, at {dotted(finding.place.path)!r}"
        return Diagnostic(
            rule.code, rule.severity, message, finding.help, name, self.path, line, column
        )


def written(source: str | os.PathLike[str] | Mapping[str, JSON]) -> Written:
    """Return the procedure of a file, or of a dictionary.

    Raises:
        OSError: there is no such file, or it can't be read.
        TypeError, ValueError: there is something in the dictionary that is no JSON.
    """
    if isinstance(source, Mapping):
        text = json.dumps(dict(source), allow_nan=False)
        return _checked(json.loads(text), text, "", None)
    path = os.fspath(source)
    with open(path, "rb") as file:
        content = file.read(MAX_BYTES + 1)  # a device may never end
    try:
        found: Source = read(content, path=path)
    except UnreadableError as error:
        case = ReadingCase(error.message, error.line, error.column, error.help)
        return Written(None, ask((document.unreadable,), case), path, None)
    return _checked(found.value, found.text, path, found.place)


def told(path: str) -> Written:
    """Return the procedure of a file that was found, or that this can't be read.

    Nothing else than a plain file is opened: a FIFO would have to be waited for.
    """
    try:
        if os.path.isfile(path) or not os.path.exists(path):
            return written(path)
        reason = "it is no plain file"
    except OSError as error:
        reason = f"{error.strerror}"
    case = ReadingCase(f"the file can't be opened: {reason}", 1, 1)
    return Written(None, ask((document.unreadable,), case), path, None)


def _checked(
    value: JSON, text: str, path: str, place: Callable[[Path], tuple[int, int]] | None
) -> Written:
    case = DocumentCase(value, published("procedure").problems(value), path)
    verdicts = ask(document.RULES, case)
    if case.problems:
        found = value.get("name") if not path and isinstance(value, dict) else None
        return Written(None, verdicts, path, place, found if isinstance(found, str) else None)
    if any(each.rule is document.unfit_inputs_schema for each in verdicts):
        value = {**value, "inputs": {"type": "object", "additionalProperties": True}}
    return Written(made(value, text=text, source=path), verdicts, path, place)


def checked(source: Written, catalog: Catalog | None, others: Others) -> tuple[Diagnostic, ...]:
    """Return what is wrong with a procedure, all at once.

    ``catalog`` has the tools and step handlers; None if they are not known.
    """
    verdicts = list(source.verdicts)
    if source.procedure is not None:
        case = ProcedureCase(source.procedure, catalog, others)
        verdicts += ask(flow.RULES, case)
        verdicts += ask((*variables.RULES, *arguments.RULES), traced(case))
    return source.diagnostics(verdicts)
