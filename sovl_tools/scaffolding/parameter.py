"""Parameters as they are written on the command line: ``days:integer=3``."""

from __future__ import annotations

import json
import re
from typing import NamedTuple

from sovl_tools.loading.checks.folder import unfit
from sovl_tools.model.document import JSON, kind
from sovl_tools.model.suggestion import did_you_mean
from sovl_tools.schema.fit import has_type

_FORM = re.compile(
    r"(?P<name>[^:=?]+):(?P<type>[^=?]*)(?P<optional>\?)?(?:=(?P<default>.*))?", re.DOTALL
)
PYTHON = {
    "string": "str",
    "integer": "int",
    "number": "float",
    "boolean": "bool",
    "array": "list",
    "object": "dict",
}
"""The types that a parameter may have, and what Python calls them."""

_TYPES = {**{name: name for name in PYTHON}, **{own: name for name, own in PYTHON.items()}}


class NewParameter(NamedTuple):
    """A parameter of a tool that does not exist yet.

    Attributes:
        name: an ASCII identifier.
        type: a JSON type.
        is_required: whether each call has to give it.
        default: its default; None if it has none.
    """

    name: str
    type: str
    is_required: bool = True
    default: JSON = None


def parameter(text: str) -> NewParameter:
    """Return the parameter that ``NAME:TYPE``, ``NAME:TYPE?`` or ``NAME:TYPE=DEFAULT`` means.

    Raises:
        ValueError: the text is nothing of the kind; it says what is there and what would be right.
    """
    found = _FORM.fullmatch(text)
    if found is None:
        raise ValueError(f"{text!r} is not NAME:TYPE; write for example city:string")
    name, type_ = found["name"], _TYPES.get(found["type"])
    reason = unfit(name)
    if reason is not None:
        raise ValueError(f"{name!r} can't name a parameter: {reason}")
    if type_ is None:
        hint = did_you_mean(found["type"], _TYPES) or f"the types are {', '.join(PYTHON)}"
        raise ValueError(f"{found['type']!r} is no type of a parameter; {hint}")
    default = None if found["default"] is None else _default(type_, found["default"])
    is_required = default is None and not found["optional"]
    return NewParameter(name, type_, is_required, default)


def _default(type_: str, text: str) -> JSON:
    """Read a default as its type wants it: text as it stands, anything else as JSON."""
    if type_ == "string":
        text.encode()
        return text
    try:
        value = json.loads(_BOOLEANS.get(text, text))
        json.dumps(value, allow_nan=False)
    except (ValueError, RecursionError):
        raise ValueError(f"the default {text!r} is not JSON, as {type_!r} has to be") from None
    if value is None:
        raise ValueError("the default is null; write NAME:TYPE? for what may be left out")
    if not has_type(value, {type_}):
        raise ValueError(f"the default {text} is {kind(value)!r}, but the type is {type_!r}")
    return int(value) if type_ == "integer" else value


_BOOLEANS = {"True": "true", "False": "false"}
