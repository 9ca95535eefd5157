"""Choosing tools by what is known of them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from fnmatch import fnmatchcase
from typing import Any, TypeAlias

from sovl_tools.model.definition import ToolDefinition

_ABSENT = object()
_LOGGER = logging.getLogger("sovl_tools")


Criterion: TypeAlias = Callable[[ToolDefinition], object] | Mapping[str, Any]
"""A function that has to be true of a tool, or attributes and what they have to be."""


def meets(tool: ToolDefinition, criteria: Iterable[Criterion]) -> bool:
    """Tell whether a tool meets all criteria."""
    return all(
        all(_has(tool, key, wanted) for key, wanted in each.items())
        if isinstance(each, Mapping)
        else each(tool)
        for each in criteria
    )


def _has(tool: ToolDefinition, key: str, wanted: Any) -> bool:
    """Tell whether a tool has an attribute of that value.

    A list means all of its members, and of an attribute that is a list any other value means one.

    What is no attribute is looked up in ``metadata``, and then at the object that the tool
    belongs to.
    """
    if key == "name_pattern":
        if isinstance(wanted, str):
            return fnmatchcase(tool.name, wanted)
        return wanted is None or wanted.search(tool.name) is not None
    actual = getattr(tool, key, _ABSENT)
    if actual is _ABSENT:
        actual = tool.metadata.get(key, _ABSENT)
    if actual is _ABSENT:
        try:
            actual = getattr(tool.instance, key, _ABSENT)
        except Exception:  # a property of the tool's own class, which may do anything
            _LOGGER.warning("%s of tool %s can't be read", key, tool.name, exc_info=True)
    # ``tags=["a", "b"]`` asks for both, ``tags="a"`` for one
    if isinstance(actual, _SEVERAL):
        return all(
            each in actual for each in (wanted if isinstance(wanted, _SEVERAL) else [wanted])
        )
    return bool(actual == wanted)


_SEVERAL = (list, tuple, set, frozenset)
