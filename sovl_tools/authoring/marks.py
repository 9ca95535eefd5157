"""What an author says about a tool beside its code."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from sovl_tools.model.document import JSON


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
