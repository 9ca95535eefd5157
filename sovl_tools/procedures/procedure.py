"""A procedure, its steps, and the variables that these refer to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple

from sovl_tools.model.actions import ACTIONS
from sovl_tools.model.diagnostic import ManifestPlace
from sovl_tools.model.document import JSON, Path, copied
from sovl_tools.procedures.errors import InputError
from sovl_tools.schema.engine import compile_schema
from sovl_tools.schema.keywords import COMBINING
from sovl_tools.schema.problem import explanations, place

MAX_BYTES = 1 << 20
"""How large a file of a procedure can be."""

MAX_DEPTH = 100
"""How deep lists and mappings can be nested in it."""

MAX_VALUES = 50_000
"""The maximum number of its values."""

COMMON = ("action", "name", "when", "save_as", "timeout", "on_error")
"""The keys that every step can have."""

RESERVED = frozenset(
    {
        "inputs", "loop", "self", "true", "false", "none", "null", "True", "False", "None",
        "and", "or", "not", "in", "is", "if", "else",
    }
)  # fmt: skip
"""Names that variables can't have."""

MAX_SECONDS = 31_536_000
"""The longest wait: a year."""

BUILT_IN: Mapping[tuple[str, str | int], JSON] = {
    ("for_each", "items"): {"type": "array"},
    ("wait", "seconds"): {"type": "number", "minimum": 0, "maximum": MAX_SECONDS},
}
"""The schemas of built-in actions for values that can be templates as well."""

_COMBINING = COMBINING | {"unevaluatedProperties"}


class OnError(NamedTuple):
    """What happens when a step fails.

    Attributes:
        retry: the number of further attempts.
        delay: seconds before the second attempt.
        backoff: the factor that each further wait grows by.
        then: what happens after the last failure.
    """

    retry: int = 0
    delay: float = 1.0
    backoff: float = 2.0
    then: Literal["fail", "continue"] = "fail"


class Step(NamedTuple):
    """One step.

    Attributes:
        path: where it is in the document.
        action: its action.
        fields: its keys other than the common ones, as written.
        blocks: the steps in it, by the place of each list below ``path``.
        name: its name; None to name it after its action.
        when: an expression; None for always.
        save_as: the variable that keeps its value; None to drop the value.
        timeout: in seconds, for each attempt; None for no limit.
        on_error: what happens when it fails.
    """

    path: Path
    action: str
    fields: Mapping[str, JSON]
    blocks: Mapping[Path, tuple[Step, ...]]
    name: str | None = None
    when: str | None = None
    save_as: str | None = None
    timeout: float | None = None
    on_error: OnError = OnError()

    @property
    def label(self) -> str:
        """The step's name in messages and plans."""
        words = (self.fields.get(each) for each in ("tool", "procedure"))
        what = next((each for each in words if isinstance(each, str)), "")
        return self.name or f"{self.action} {what}".strip()


class Procedure(NamedTuple):
    """A procedure that can be checked and run.

    Attributes:
        name: its name.
        description: its purpose, and when to use it.
        inputs: the JSON Schema of its inputs, an object.
        steps: in order.
        output: the value of a run unless a step returns; templates are rendered.
        text: its source text.
        source: the file, or ``""``.
        tags: words to find it by.
        timeout: of a run, in seconds; None for no limit.
    """

    name: str
    description: str
    inputs: Mapping[str, JSON]
    steps: tuple[Step, ...]
    output: JSON = None
    text: str = ""
    source: str = ""
    tags: tuple[str, ...] = ()
    timeout: float | None = None

    def every_step(self) -> Iterator[Step]:
        """Yield all steps, each before its inner steps."""
        yield from _every(self.steps)


def _every(steps: tuple[Step, ...]) -> Iterator[Step]:
    for step in steps:
        yield step
        for block in step.blocks.values():
            yield from _every(block)


class Reference(NamedTuple):
    """A variable that a template reads but doesn't bind.

    Attributes:
        name: of the variable.
        attributes: the constant keys and indexes behind it: ``page.links[0].url`` has
            ``("links", 0, "url")``, ``page.links[i].url`` has ``("links",)``.
        is_guarded: whether it can be absent: ``x | default(1)``, or ``x is defined`` somewhere.
    """

    name: str
    attributes: tuple[str | int, ...]
    is_guarded: bool = False


def assigned(steps: tuple[Step, ...]) -> Iterator[tuple[str, ManifestPlace]]:
    """Yield the variables that steps assign, each with its place; without the iterations'."""
    for step in steps:
        if step.action == "set":
            for name in step.fields["values"]:
                yield name, ManifestPlace((*step.path, "values", name), "key")
        if step.save_as is not None:
            yield step.save_as, ManifestPlace((*step.path, "save_as"))
        if step.action != "for_each":
            for block in step.blocks.values():
                yield from assigned(block)


def parse_procedure(document: Mapping[str, JSON], *, text: str, source: str) -> Procedure:
    """Return the procedure of a document that matches the published schema."""
    inputs = document.get("inputs", {"type": "object", "properties": {}})
    return Procedure(
        document["name"],
        document["description"],
        # Next to a combining keyword it would reject the properties that the keyword names.
        inputs if _COMBINING & inputs.keys() else {"additionalProperties": False, **inputs},
        _steps(document["steps"], ("steps",)),
        document.get("output"),
        text,
        source,
        tuple(document.get("tags", ())),
        document.get("timeout"),
    )


def _steps(documents: list[JSON], path: Path) -> tuple[Step, ...]:
    return tuple(_step(each, (*path, index)) for index, each in enumerate(documents))


def _step(document: Mapping[str, JSON], path: Path) -> Step:
    action, on_error = document["action"], document.get("on_error", "fail")
    return Step(
        path,
        action,
        _fields(action, document),
        {place: _steps(steps, (*path, *place)) for place, steps in _blocks(action, document)},
        document.get("name"),
        _condition(document.get("when")),
        document.get("save_as"),
        document.get("timeout"),
        OnError(**({"then": on_error} if isinstance(on_error, str) else on_error)),
    )


def _fields(action: str, document: Mapping[str, JSON]) -> dict[str, JSON]:
    """Return the keys of a step's action, without the user's own ``x-`` keys."""
    if action not in ACTIONS:  # only its handler can list its keys
        return {key: each for key, each in document.items() if key not in COMMON}
    fields = {key: document[key] for key in ACTIONS[action].keys if key in document}
    return {**fields, "condition": _condition(fields["condition"])} if action == "if" else fields


def _condition(value: JSON) -> JSON:
    """Return a condition as an expression: a boolean becomes its text."""
    return str(value).lower() if isinstance(value, bool) else value


def _blocks(action: str, document: Mapping[str, JSON]) -> Iterator[tuple[Path, list[JSON]]]:
    """Yield the lists of steps in a step, each with its place."""
    for key in ACTIONS[action].blocks if action in ACTIONS else ():
        block = document.get(key, [])
        if isinstance(block, Mapping):
            yield from (((key, name), steps) for name, steps in block.items())
        elif key in document:
            yield (key,), block


def checked_inputs(procedure: Procedure, given: dict[str, JSON]) -> dict[str, JSON]:
    """Return a copy of the inputs, checked and with the defaults of the procedure's schema.

    Raises:
        InputError: the inputs don't match the schema.
    """
    inputs: dict[str, JSON] = copied(given)
    properties: Any = procedure.inputs.get("properties", {})
    for name, schema in properties.items():
        if name not in inputs and isinstance(schema, dict) and "default" in schema:
            inputs[name] = schema["default"]  # steps get copies of it
    problems = compile_schema(dict(procedure.inputs)).problems(inputs)
    if problems:
        # Names are suggested only at the top.
        found = [*explanations(problems, lambda path: () if path else properties)]
        words = "; ".join(f"{place(path)}: {said}".removeprefix(": ") for path, said in found)
        raise InputError(f"the inputs of {procedure.name} do not match: {words}", found)
    return inputs
