"""What the annotations of classes and functions stand for."""

from __future__ import annotations

import typing
from collections.abc import Mapping
from typing import Any

from sovl_tools.annotations import fields
from sovl_tools.annotations.hints import Names


def origin_of(annotation: Any) -> Any:
    """Return ``list`` for ``list[T]``, and what has no parameters as it is."""
    return typing.get_origin(annotation) or annotation


def hints_of(annotation: Any) -> dict[str, Any]:
    """Return the annotations of a class and of those that it inherits from."""
    return fields.hints_of(annotation, _meaning)


def _meaning(annotation: Any, names: Names, bound: Mapping[Any, Any]) -> Any:
    try:
        return fields.meaning_of(annotation, names, bound)
    except Exception:  # noqa: BLE001 - evaluating it runs whatever its author wrote
        return Any


def resolved(annotation: Any, names: Names | dict[str, Any]) -> Any:
    """Return an annotation with its text evaluated; ``names`` may be those of a module alone.

    Where a name can't be found, it says nothing: ``Any``.
    """
    return _meaning(annotation, names if isinstance(names, Names) else Names(names), {})
