"""What an author says about a tool beside its code."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from sovl_tools.model.document import JSON
from sovl_tools.schema.dynamic import stated


class Marks(NamedTuple):
    """The arguments of ``tool``; what is None or empty is inferred or left out.

    Attributes:
        name: the tool's name.
        description: what the tool does and when to use it.
        param_descriptions: descriptions by parameter.
        params: JSON Schema fragments by parameter, laid over the inferred ones. A value in one, or
            a whole one, may be a function.
        required: names of the parameters that have to be given.
        fields: further fields of ToolDefinition.
    """

    name: str | None = None
    description: str | None = None
    param_descriptions: Mapping[str, str] = {}
    params: Mapping[str, Mapping[str, JSON] | Callable[..., Any]] = {}
    required: Sequence[str] | None = None
    fields: Mapping[str, Any] = {}


NO_MARKS = Marks()


def normal(mark: str, given: Any) -> Any:
    """Return what was given for a mark in the one form that Marks has it in.

    Raises:
        TypeError: it is of another kind; the message says which one it has to be.
    """
    return _FORMS[mark](mark, given) if mark in _FORMS else given


def _by_parameter(mark: str, given: Any) -> dict[str, Any]:
    if not isinstance(given, Mapping):
        raise TypeError(f"{mark} has to be a dictionary, by parameter, not {given!r:.80}")
    return dict(given)


def _fragments(mark: str, given: Any) -> dict[str, Any]:
    return {name: stated(each, (name,)) for name, each in _by_parameter(mark, given).items()}


def _names(mark: str, given: Any) -> list[str]:
    is_list = isinstance(given, Iterable) and not isinstance(given, str | bytes | Mapping)
    names = [*given] if is_list else [given]
    if not (is_list and all(isinstance(each, str) for each in names)):
        shown = names if is_list else given
        raise TypeError(f"{mark} has to be a list of names of parameters, not {shown!r:.80}")
    return names


_FORMS: dict[str, Callable[[str, Any], Any]] = {
    "param_descriptions": _by_parameter,
    "params": _fragments,
    "required": _names,
}
