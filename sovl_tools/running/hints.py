"""What the annotations of classes and functions stand for."""

from __future__ import annotations

import builtins
import inspect
import sys
import typing
from collections.abc import Mapping
from types import MappingProxyType, SimpleNamespace
from typing import Any, ForwardRef

from sovl_tools.authoring.hints import substituted


def origin_of(annotation: Any) -> Any:
    """Return ``list`` for ``list[T]``, and what has no parameters as it is."""
    return typing.get_origin(annotation) or annotation


def hints_of(annotation: Any) -> dict[str, Any]:
    """Return the annotations of a class and of those that it inherits from."""
    kind = origin_of(annotation)
    found = {
        name: resolved(each, *namespaces(base))
        for base in reversed(kind.__mro__)
        for name, each in inspect.get_annotations(base).items()
    }
    bound = dict(
        zip(getattr(kind, "__parameters__", ()), typing.get_args(annotation), strict=False)
    )
    return {name: substituted(hint, bound) for name, hint in found.items()}


def namespaces(kind: type) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what the names in a class's annotations stand for; its module's come first."""
    return {**vars(kind), kind.__name__: kind}, vars(sys.modules.get(kind.__module__) or builtins)


def resolved(
    annotation: Any, names: dict[str, Any], local: Mapping[str, Any] = MappingProxyType({})
) -> Any:
    """Return an annotation with its text evaluated; ``local`` names come before the others.

    Where a name can't be found, it says nothing: ``Any``.
    """
    try:
        if isinstance(annotation, str):
            annotation = ForwardRef(annotation, is_argument=False, is_class=True)
        holder = SimpleNamespace(__annotations__={"annotation": annotation})
        return typing.get_type_hints(holder, names, local, include_extras=True)["annotation"]
    except Exception:  # noqa: BLE001 - evaluating it runs whatever its author wrote
        return Any
