"""Choosing tools by what is known of them."""

from __future__ import annotations

import logging
import re
from fnmatch import fnmatchcase
from typing import Any

from sovl_tools.model.definition import ToolDefinition

_ABSENT = object()
_LOGGER = logging.getLogger("sovl_tools")


def is_named(name: str, pattern: str | re.Pattern[str]) -> bool:
    """Tell whether a shell pattern fits a name, or a compiled expression is found in it."""
    if isinstance(pattern, str):
        return fnmatchcase(name, pattern)
    return pattern.search(name) is not None


def meets(tool: ToolDefinition, key: str, wanted: Any) -> bool:
    """Tell whether a tool has an attribute of that value; a list means all of its members.

    What is no attribute is looked up in ``metadata``, and then at the object that the tool
    belongs to.
    """
    actual = getattr(tool, key, _ABSENT)
    if actual is _ABSENT:
        actual = tool.metadata.get(key, _ABSENT)
    if actual is _ABSENT:
        actual = _of_instance(tool, key)
    if isinstance(wanted, _SEVERAL) and isinstance(actual, _SEVERAL):
        return all(each in actual for each in wanted)
    return bool(actual == wanted)


_SEVERAL = (list, tuple, set, frozenset)


def _of_instance(tool: ToolDefinition, key: str) -> Any:
    try:
        return getattr(tool.instance, key, _ABSENT)
    except Exception:
        _LOGGER.warning("%s of tool %s can't be read", key, tool.name, exc_info=True)
        return _ABSENT
