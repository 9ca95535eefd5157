"""The document of a procedure: whether it can be read, and whether it is one."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from sovl_tools.loading.rules.schema import unfit_default
from sovl_tools.model.actions import ACTIONS
from sovl_tools.model.diagnostic import Finding, ManifestPlace, Position, rule
from sovl_tools.model.document import JSON, Path
from sovl_tools.model.errors import SchemaError
from sovl_tools.model.suggestion import did_you_mean
from sovl_tools.procedures.model import COMMON
from sovl_tools.procedures.rules.environment import DocumentCase
from sovl_tools.schema.engine import compile_schema, meta_schema
from sovl_tools.schema.messages import describe
from sovl_tools.schema.problem import explained
from sovl_tools.schema.subschemas import expands_too_far, nodes

_KEYS = (
    "$schema", "name", "description", "inputs", "steps", "output", "tags", "timeout",
)  # fmt: skip


class ReadingCase(NamedTuple):
    """What can't be read, in words, and where."""

    message: str
    line: int
    column: int
    help: str | None = None


@rule("ST750")
def unreadable(case: ReadingCase) -> Iterator[Finding]:
    """The file of a procedure can't be read.

    It is no YAML or JSON, or more than a procedure may be: it has keys twice, tags, several
    documents, or aliases that make a small file a large one. YAML is read by the core schema of
    version 1.2, so ``no`` and ``12:30`` are texts. Correct it at the place that is named.
    """
    yield Finding(Position("", case.line, case.column), case.message, case.help)


@rule("ST751")
def unfit_document(case: DocumentCase) -> Iterator[Finding]:
    """A part of a procedure is missing or of the wrong kind.

    ``sovl-tools schema procedure`` prints what a procedure may say, and ``docs/procedures.md``
    tells it on one page. Values are not converted.
    """
    for problem in case.problems:
        if problem.keyword == "required":
            for name in problem.expected:
                yield Finding(ManifestPlace(problem.path), f"{name!r} is missing")
        else:
            yield Finding(ManifestPlace(problem.path), describe(problem))


@rule("ST752")
def unknown_key(case: DocumentCase) -> Iterator[Finding]:
    """A procedure, or a step of a built-in action, has a key that means nothing.

    It would be ignored, and a misspelt ``when`` or ``on_error`` would change what is done. Correct
    it, or begin it with ``x-`` if it is your own. Steps of actions that tools bring may have any
    key.
    """
    if isinstance(case.document, dict):
        yield from _unknown(case.document, _KEYS, ())
        yield from _in_steps(case.document.get("steps"), ("steps",))


def _in_steps(steps: JSON, path: Path) -> Iterator[Finding]:
    for index, step in enumerate(steps if isinstance(steps, list) else ()):
        action = step.get("action") if isinstance(step, dict) else None
        if isinstance(action, str) and action in ACTIONS:
            place = (*path, index)
            yield from _unknown(step, (*COMMON, *ACTIONS[action].keys), place)
            for key in ACTIONS[action].blocks:
                block = step.get(key)
                yield from _in_steps(block, (*place, key))
                for name, inner in block.items() if isinstance(block, dict) else ():
                    yield from _in_steps(inner, (*place, key, name))


def _unknown(document: dict[str, JSON], known: Iterable[str], path: Path) -> Iterator[Finding]:
    for key in document:
        if key not in known and not key.startswith("x-"):
            what = f"a key of a step {document['action']!r}" if path else "a key of a procedure"
            hint = did_you_mean(key, known)
            yield Finding(ManifestPlace((*path, key), "key"), f"{key!r} is not {what}", hint)


@rule("ST765")
def unfit_inputs_schema(case: DocumentCase) -> Iterator[Finding]:
    """The schema of the inputs is no valid JSON Schema (draft 2020-12), or a default breaks it.

    No inputs could be checked against it, or no run could begin that leaves the input out. Correct
    it, or leave ``inputs`` or the default out.
    """
    inputs = case.document.get("inputs") if isinstance(case.document, dict) else None
    if isinstance(inputs, dict):
        problems = meta_schema().problems(inputs)
        for problem in explained(problems):
            yield Finding(ManifestPlace(("inputs", *problem.path)), describe(problem))
        found = [] if problems else [*_uncompilable(inputs)]
        yield from found
        # A run would fill a default in and then refuse it. The rule of manifests only warns of
        # that, because the functions of tools have defaults of their own.
        for node in () if problems or found else nodes(inputs, ("inputs",)):
            if node.path[1:-1] == ("properties",):
                yield from unfit_default.check(node)


def _uncompilable(inputs: dict[str, JSON]) -> Iterator[Finding]:
    place = ManifestPlace(("inputs",))
    if expands_too_far(inputs):
        yield Finding(place, "the references in the schema expand without end")
        return
    try:
        compile_schema(inputs)
    except SchemaError as error:
        yield Finding(place, f"the schema can't be used: {error.reason}")


@rule("ST768")
def name_differs(case: DocumentCase) -> Iterator[Finding]:
    """The name of a procedure is not that of its file.

    Steps find other procedures by the names of their files, so one with two names would not be
    found by what it calls itself. Make them equal.
    """
    name = case.document.get("name") if isinstance(case.document, dict) else None
    stem = os.path.splitext(os.path.basename(case.path))[0]
    is_unfit = any(each.path == ("name",) for each in case.problems)
    if case.path and isinstance(name, str) and not is_unfit and name != stem:
        message = f"the name is {name!r}, the file's is {stem!r}"
        yield Finding(ManifestPlace(("name",)), message, "make them equal")


RULES = (unfit_document, unknown_key, unfit_inputs_schema, name_differs)
