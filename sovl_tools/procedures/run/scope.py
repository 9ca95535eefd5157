"""The variables of a run, the keys of its steps, and the inputs that it begins with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sovl_tools.model.document import JSON, Path, copied
from sovl_tools.procedures.errors import InputError, StepError
from sovl_tools.procedures.model import Procedure, Step
from sovl_tools.procedures.templates.language import EvaluationError
from sovl_tools.procedures.templates.template import Template
from sovl_tools.schema.engine import compile_schema
from sovl_tools.schema.messages import explanations, place


class Scope:
    """The variables of some steps, and what their keys begin with.

    A key names a step of a run, with the iteration in which it is: ``steps.2[3].steps.0``,
    ``steps.1/other:steps.0`` in another procedure, and ``steps.4~2.steps.0`` in the second attempt
    of the step around it.

    Attributes:
        variables: by name, ``inputs`` among them.
        depth: how many steps lie around these.
    """

    def __init__(
        self, variables: dict[str, JSON], prefix: str = "", *, base: int = 0, depth: int = 0
    ) -> None:
        self.variables = variables
        self.depth = depth
        self._prefix = prefix
        self._base = base

    def render(self, value: JSON, path: Path) -> JSON:
        """Return a value with the templates in its texts filled in; keys stay as they are.

        ``path`` is its place in the document.

        Raises:
            StepError: an expression fails.
        """
        if isinstance(value, str):
            return self._evaluated(Template.of(value), path)
        if isinstance(value, Mapping):
            return {key: self.render(each, (*path, key)) for key, each in value.items()}
        if isinstance(value, list):
            return [self.render(each, (*path, index)) for index, each in enumerate(value)]
        return value

    def is_true(self, condition: str, path: Path) -> bool:
        """Tell whether a condition is true, as Python sees it: empty and 0 are not.

        Raises:
            StepError: the expression fails.
        """
        return bool(self._evaluated(Template.of_expression(condition), path))

    def _evaluated(self, template: Template, path: Path) -> JSON:
        try:
            return template.evaluate(self.variables)
        except EvaluationError as error:
            raise StepError(str(error), path=path, line=error.line) from error

    def key(self, step: Step) -> str:
        """Return the key of a step in this scope."""
        return self._prefix + ".".join(map(str, step.path[self._base :]))

    def inner(self, step: Step, key: str, variables: dict[str, JSON] | None = None) -> Scope:
        """Return the scope of the steps in a step; with the same variables unless others are given.

        ``key`` is that of the step, with its attempt and the iteration in it.
        """
        given = self.variables if variables is None else variables
        return self._below(f"{key}.", step.path, given)

    def procedure(self, key: str, name: str, inputs: JSON) -> Scope:
        """Return the scope of another procedure that a step runs."""
        return self._below(f"{key}/{name}:", (), {"inputs": inputs})

    def _below(self, prefix: str, path: Path, variables: dict[str, JSON]) -> Scope:
        return Scope(variables, prefix, base=len(path), depth=self.depth + 1)

    def merge(self, others: list[Scope]) -> None:
        """Take over the variables that other scopes, which began with these, have changed."""
        # Two branches never assign one variable: a rule refuses that before anything runs.
        before = dict(self.variables)
        for other in others:
            for name, value in other.variables.items():
                if name not in before or before[name] is not value:
                    self.variables[name] = value


def checked_inputs(procedure: Procedure, given: dict[str, JSON]) -> dict[str, JSON]:
    """Return inputs with the defaults of the procedure's schema, a copy.

    Raises:
        InputError: they do not fit.
    """
    inputs: dict[str, JSON] = copied(given)
    properties: Any = procedure.inputs.get("properties", {})
    for name, schema in properties.items():
        if name not in inputs and isinstance(schema, dict) and "default" in schema:
            inputs[name] = copied(schema["default"])
    problems = compile_schema(dict(procedure.inputs)).problems(inputs)
    if problems:
        found = explanations(problems, lambda path: () if path else properties)
        words = "; ".join(f"{place(path)}: {said}".removeprefix(": ") for path, said in found)
        raise InputError(f"the inputs of {procedure.name} do not fit: {words}")
    return inputs
