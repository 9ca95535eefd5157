"""JSON strings laid out in any manner, and functions with any signature."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import make_dataclass
from typing import Any, Literal, NamedTuple, Optional, TypedDict, Union

from hypothesis import strategies as st

from tests.schema.strategies import values

_GAPS = st.sampled_from(["", "", " ", "\n", "\n  ", "\r\n\t", "  "])
_COMMENTED = st.sampled_from(
    ["", " ", "\n  ", " // one\n", "/* two */", "\n\t// {3}, \n  ", "/*\n*/"]
)
_INDENTS = st.sampled_from([None, 2, 4, "\t"])


@st.composite
def texts_of(draw: st.DrawFn, value: Any) -> str:
    """Return a string of the value: as a program writes it, or with odd space all over."""
    if draw(st.booleans()):
        text = json.dumps(value, indent=draw(_INDENTS), ensure_ascii=draw(st.booleans()))
        return text + draw(st.sampled_from(["", "\n"]))
    return _odd(draw, value, _GAPS, last=st.just(""))


@st.composite
def commented_texts_of(draw: st.DrawFn, value: Any) -> str:
    """Return a string of the value with comments, and commas before closing brackets."""
    return f"// first\n{_odd(draw, value, _COMMENTED, last=st.sampled_from(['', ',']))}"


def _odd(
    draw: st.DrawFn,
    value: Any,
    gaps: st.SearchStrategy[str],
    last: st.SearchStrategy[str],
) -> str:
    def gap() -> str:
        return draw(gaps)

    def end() -> str:
        return f"{draw(last)}{gap()}"

    if isinstance(value, dict):
        parts = [
            f"{gap()}{json.dumps(key)}{gap()}:{gap()}{_odd(draw, each, gaps, last)}{gap()}"
            for key, each in value.items()
        ]
        return f"{{{','.join(parts) + end() if parts else gap()}}}"
    if isinstance(value, list):
        items = [f"{gap()}{_odd(draw, each, gaps, last)}{gap()}" for each in value]
        return f"[{','.join(items) + end() if items else gap()}]"
    return json.dumps(value)


documents = st.dictionaries(st.sampled_from(["alpha", "beta", "a b", "é"]), values, max_size=4)


@st.composite
def changed(draw: st.DrawFn, value: Any) -> Any:
    """Return a value that is mostly like the given one."""
    if isinstance(value, dict):
        kept = {
            key: draw(changed(each)) for key, each in value.items() if draw(st.integers(0, 3)) > 0
        }
        return {**kept, **draw(st.dictionaries(st.sampled_from(["new", "n"]), values, max_size=2))}
    if isinstance(value, list):
        kept_items = [each for each in value if draw(st.integers(0, 3)) > 0]
        return [*kept_items, *draw(st.lists(values, max_size=1))]
    return draw(values) if draw(st.integers(0, 3)) == 0 else value


class Case(NamedTuple):
    """A function and a manifest that someone wrote for another version of it."""

    function: Callable[..., Any]
    document: dict[str, Any]


_KINDS = {"int": "1", "str": "'a'", "list[int]": "(1, 2)", "dict": "None", "float | None": "None"}
_NAMES = ("alpha", "beta", "gamma", "_delta")


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Return a function with keyword-only parameters and a manifest."""
    names = draw(st.lists(st.sampled_from(_NAMES), unique=True))
    parts, lines = [], []
    for name in names:
        kind = draw(st.sampled_from(sorted(_KINDS)))
        default = f" = {_KINDS[kind]}" if draw(st.booleans()) else ""
        parts.append(f"{name}: {kind}{default}")
        if draw(st.booleans()):
            lines.append(f"    {name}: The {name}.")
    if draw(st.integers(0, 4)) == 0:
        parts.append("**rest")
    text = "Do it.\n\n" + ("Args:\n" + "\n".join(lines) if lines else "")
    star = "*, " if parts and not parts[0].startswith("**") else ""
    namespace: dict[str, Any] = {}
    exec(f"def made({star}{', '.join(parts)}):\n    {text!r}\n", namespace)
    return Case(namespace["made"], draw(_manifests()))


_schemas = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(["integer", "string", "array"]),
        "description": st.sampled_from(["", " ", "By hand."]),
        "default": st.sampled_from([1, "a"]),
        "minimum": st.just(5),
        "x-own": values,
    },
)


@st.composite
def _manifests(draw: st.DrawFn) -> dict[str, Any]:
    properties = draw(st.dictionaries(st.sampled_from((*_NAMES, "old")), _schemas))
    optional = {
        "name": st.just("made"),
        "description": st.sampled_from(["", "By hand."]),
        "parameters": st.fixed_dictionaries(
            {"properties": st.just(properties)},
            optional={
                "type": st.just("object"),
                "required": st.lists(st.sampled_from((*_NAMES, "old")), unique=True),
                "x-own": values,
            },
        ),
        "tags": st.just(["a"]),
    }
    return draw(st.fixed_dictionaries({}, optional=optional))


def _record(fields: dict[str, Any]) -> Any:
    return make_dataclass("Made", [*fields.items()])


def _of(generic: Any) -> Callable[[Any], Any]:
    """Return what makes a type of another, or of a tuple of them."""
    return lambda each: generic[each]


_fields = st.dictionaries(st.sampled_from(["x", "y", "z"]), st.deferred(lambda: _types), max_size=3)
_values = st.lists(st.sampled_from(["a", "b", "c"]), min_size=1, max_size=3, unique=True)
_types: st.SearchStrategy[Any] = st.one_of(
    st.sampled_from([int, str, float, bool]),
    _values.map(tuple).map(_of(Literal)),
    st.deferred(lambda: _types.map(_of(list))),
    st.deferred(lambda: _types.map(_of(Optional))),
    st.deferred(lambda: st.tuples(_types, _types).map(_of(Union))),
    st.deferred(lambda: st.tuples(_types, _types).map(_of(tuple))),
    _fields.map(_record),
    _fields.map(lambda fields: TypedDict("Record", fields)),  # type: ignore[operator]
)


def annotated_types() -> st.SearchStrategy[Any]:
    """Return types of every kind, nested, classes of one name among them."""
    return _types
