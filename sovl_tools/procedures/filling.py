"""Values with templates in them, filled in."""

from __future__ import annotations

from collections.abc import Mapping

from sovl_tools.model.document import JSON
from sovl_tools.procedures.expressions import Template


def filled(value: JSON, variables: Mapping[str, JSON]) -> JSON:
    """Return a value with the templates in its texts filled in; keys stay as they are.

    Raises:
        EvaluationError: an expression fails.
    """
    if isinstance(value, str):
        return Template.of(value).evaluate(variables)
    if isinstance(value, Mapping):
        return {key: filled(each, variables) for key, each in value.items()}
    if isinstance(value, list):
        return [filled(each, variables) for each in value]
    return value


def is_true(condition: str, variables: Mapping[str, JSON]) -> bool:
    """Tell whether a condition is true, as Python sees it: empty and 0 are not.

    Raises:
        EvaluationError: the expression fails.
    """
    return bool(Template.of_expression(condition).evaluate(variables))
