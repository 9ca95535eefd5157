"""The filters of expressions: Jinja's without those of HTML and chance, and a few of ours."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import wraps
from typing import Any

from jinja2 import Environment, pass_environment
from jinja2.filters import FILTERS, make_attrgetter

from sovl_tools.model.document import JSON, parse_json
from sovl_tools.procedures.language import EvaluationError
from sovl_tools.procedures.operators import check_counts, check_widths, replaced
from sovl_tools.procedures.plain import as_json, as_text, joined

_LEFT_OUT = frozenset(
    {
        "attr", "e", "escape", "forceescape", "pprint", "random", "safe", "striptags", "urlize",
        "xmlattr",
    }
)  # fmt: skip


def to_json(value: Any, indent: int | None = None) -> str:
    """Return JSON text of a value; characters beyond ASCII stay as they are."""
    check_counts(indent)
    return json.dumps(as_json(value), ensure_ascii=False, indent=indent)


def from_json(text: Any) -> JSON:
    """Return the value of a JSON text."""
    if not isinstance(text, str):
        raise EvaluationError("from_json needs a string")
    try:
        return parse_json(text)
    except ValueError as error:
        raise EvaluationError(f"from_json can't read the text: {error}") from error


@pass_environment
def join(
    environment: Environment, values: Iterable[Any], between: str = "", attribute: Any = None
) -> str:
    """Return values as text, with another text between them."""
    if attribute is not None:
        values = map(make_attrgetter(environment, attribute), values)
    return joined(separated(values, as_text(between)))


def separated(values: Iterable[Any], separator: str) -> Iterator[str]:
    """Yield values as text, with another text between them."""
    for index, value in enumerate(values):
        if index:
            yield separator
        yield as_text(value)


def _counted(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the filter, which makes as much as an argument says, with that checked."""

    @wraps(function)
    def checked(value: Any, *arguments: Any, **named: Any) -> Any:
        check_counts(*arguments, *named.values())
        return function(value, *arguments, **named)

    return checked


def _format(pattern: str, *arguments: Any, **named: Any) -> str:
    check_widths(pattern)
    made: str = FILTERS["format"](pattern, *arguments, **named)
    return made


def replace(value: Any, old: Any, new: Any, count: int | None = None) -> str:
    """Return a text with another one in the place of each occurrence of one."""
    return replaced(as_text(value), as_text(old), as_text(new), count)


TABLE: Mapping[str, Callable[..., Any]] = {
    **{name: each for name, each in FILTERS.items() if name not in _LEFT_OUT},
    **{name: _counted(FILTERS[name]) for name in ("batch", "center", "indent", "round", "slice")},
    "format": _format,
    "from_json": from_json,
    "join": join,
    "replace": replace,
    "string": as_text,
    "to_json": to_json,
    "tojson": to_json,
}
"""By name."""
