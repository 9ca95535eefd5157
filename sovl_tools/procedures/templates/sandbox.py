"""Jinja's immutable sandbox, made for JSON, with bounds on the results of templates.

The author of a template is trusted, its inputs aren't: no number or string from them makes a
result that is much larger than they are.

Keys precede attributes: ``page.items`` is the object's key of that name, and
``page.items()`` the method. Results print as JSON does: ``true``, not ``True``.
"""

from __future__ import annotations

import json
import operator
import re
from collections.abc import (
    Callable,
    ItemsView,
    Iterable,
    Iterator,
    KeysView,
    Mapping,
    ValuesView,
)
from functools import partial, wraps
from typing import Any

from jinja2 import Environment, StrictUndefined, Undefined, pass_context, pass_environment
from jinja2.exceptions import TemplateRuntimeError, UndefinedError
from jinja2.filters import FILTERS, do_indent, do_wordwrap, make_attrgetter
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment, SandboxedFormatter, safe_range
from jinja2.utils import Namespace, missing

from sovl_tools.model.document import JSON, JSON_TYPES, kind, parse_json, with_article
from sovl_tools.procedures.errors import EvaluationError

MAX_RESULT = 1 << 20
"""The maximum number of characters of a printed result."""

_MAX_BITS = 14_284  # 4,300 digits, which is what Python prints
_MAX_WIDTH = 1_000


def _check_length(length: int) -> None:
    if length > MAX_RESULT:
        raise EvaluationError(f"the result has more than {MAX_RESULT:,} characters")


def _check_widths(*widths: Any) -> None:
    if any(isinstance(width, int) and abs(width) > _MAX_WIDTH for width in widths):
        raise EvaluationError(f"a width or precision is more than {_MAX_WIDTH:,}")


# Results


_LISTS = (range, Iterator, KeysView, ValuesView, ItemsView)


def _converted(value: object) -> JSON:
    """Return what JSON has in place of a value that it lacks."""
    if isinstance(value, _LISTS):
        return list(value)
    if isinstance(value, Undefined):
        str(value)  # raises the undefined value's error
    raise EvaluationError(f"{with_article(kind(value))} isn't JSON")


_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, default=_converted)


def as_json(value: object) -> JSON:
    """Return a result as plain JSON that shares no value with the variables.

    Tuples, ranges and generators become lists.

    Raises:
        EvaluationError: it is something else, or longer than a result can be.
    """
    return json.loads(joined(_ENCODER.iterencode(value)))


def as_text(value: object) -> str:
    """Return a result as text: strings unchanged, other values as JSON.

    Raises:
        EvaluationError: it isn't JSON, or too long.
    """
    return joined([str(value)] if isinstance(value, str) else _ENCODER.iterencode(value))


def joined(parts: Iterable[str]) -> str:
    """Return the parts of a string in one.

    Raises:
        EvaluationError: they are too long.
    """
    taken: list[str] = []
    length = 0
    for part in parts:
        length += len(part)
        _check_length(length)
        taken.append(part)
    return "".join(taken)


# Operators


def _add(left: Any, right: Any) -> Any:
    if isinstance(left, str | list | tuple):
        _check_length(len(left) + len(right))
    return left + right


def _multiply(left: Any, right: Any) -> Any:
    for sequence, count in ((left, right), (right, left)):
        if isinstance(sequence, str | list | tuple) and isinstance(count, int):
            _check_length(len(sequence) * count)
    if isinstance(left, int) and isinstance(right, int):
        _check_bits(left.bit_length() + right.bit_length())
    return left * right


def _power(left: Any, right: Any) -> Any:
    if isinstance(left, int) and isinstance(right, int):
        _check_bits(left.bit_length() * right)
    return left**right


def _check_bits(bits: int) -> None:
    # twice as many as can be printed, since this is only an estimate
    if bits > 2 * _MAX_BITS:
        raise EvaluationError("the number has more than 4,300 digits")


def _modulo(left: Any, right: Any) -> Any:
    if isinstance(left, str):
        _check_pattern(left, right)
    return left % right


_OPERATORS: Mapping[str, Callable[[Any, Any], Any]] = {
    "+": _add,
    "-": operator.sub,
    "*": _multiply,
    "/": operator.truediv,
    "//": operator.floordiv,
    "**": _power,
    "%": _modulo,
}

# Filters and methods


# %% or a conversion: its key, width and precision
_CONVERSION = re.compile(r"%(?:%|(?:\((.*?)\))?[-#0 +]*(\*|\d*)(?:\.(\*|\d*))?)", re.DOTALL)


def _check_pattern(pattern: str, given: Any) -> None:
    """Reject a pattern such as ``%5s: %(name)s`` whose result would be too large."""
    length = len(pattern)
    keys = []
    for key, *widths in (each.groups() for each in _CONVERSION.finditer(pattern)):
        if "*" in widths:
            raise EvaluationError("a pattern can't take a width from its arguments")
        numbers = [int(width) for width in widths if width]
        _check_widths(*numbers)
        length += sum(numbers)
        keys.append(key)
    if isinstance(given, dict):
        sizes = {key: len(as_text(given[key])) for key in {*keys} & given.keys()}
        length += sum(sizes.get(key, 0) for key in keys)
    else:
        values = given if isinstance(given, tuple) else (given,)
        length += sum(len(as_text(value)) for value in values)
    _check_length(length)


@pass_environment
def _join(
    environment: Environment, values: Iterable[Any], between: str = "", attribute: Any = None
) -> str:
    if attribute is not None:
        values = map(make_attrgetter(environment, attribute), values)
    return joined(_separated(values, as_text(between)))


def _separated(values: Iterable[Any], separator: str) -> Iterator[str]:
    for index, value in enumerate(values):
        if index:
            yield separator
        yield as_text(value)


def _replace(value: Any, old: Any, new: Any, count: int | None = None) -> str:
    text, old, new = as_text(value), as_text(old), as_text(new)
    _check_length(len(text) + text.count(old) * len(new))
    return text.replace(old, new, -1 if count is None else count)


def _indent(value: Any, width: Any = 4, *options: Any, **named: Any) -> str:
    _check_widths(width)
    text = as_text(value)
    size = len(width) if isinstance(width, str) else width
    _check_length(len(text) + (1 + text.count("\n")) * size)
    return do_indent(text, width, *options, **named)


@pass_environment
def _wordwrap(
    environment: Environment,
    value: Any,
    width: int = 79,
    break_long_words: bool = True,  # noqa: FBT001, FBT002 - Jinja's order
    wrapstring: str = "\n",
    **named: Any,
) -> str:
    text = do_wordwrap(environment, as_text(value), width, break_long_words, "\n", **named)
    return _replace(text, "\n", wrapstring)


def _to_json(value: Any, indent: int | None = None) -> str:
    _check_widths(indent)
    encoder = json.JSONEncoder(
        ensure_ascii=False, allow_nan=False, indent=indent, default=_converted
    )
    return joined(encoder.iterencode(value))


def _from_json(text: Any) -> JSON:
    if not isinstance(text, str):
        raise EvaluationError("from_json needs a string")
    try:
        return parse_json(text)
    except ValueError as error:
        raise EvaluationError(f"from_json can't read the text: {error}") from error


def _with_narrow(name: str) -> Callable[..., Any]:
    """Return a filter of Jinja whose first option, a width or a count, must be small."""
    function = FILTERS[name]
    options = 2 if hasattr(function, "jinja_pass_arg") else 1

    @wraps(function)
    def run(*arguments: Any, **named: Any) -> Any:
        numbers = [value for key, value in named.items() if key != "fill_with"]
        _check_widths(*arguments[options : options + 1], *numbers)
        return function(*arguments, **named)

    return run


# Without filters for HTML, random ones, and the ones that read attributes.
_LEFT_OUT = frozenset(
    {
        "attr", "e", "escape", "forceescape", "pprint", "random", "safe", "striptags", "urlize",
        "xmlattr",
    }
)  # fmt: skip


def _format(pattern: str, *arguments: Any, **named: Any) -> str:
    _check_pattern(pattern, named or arguments)
    made: str = FILTERS["format"](pattern, *arguments, **named)
    return made


_FILTERS: Mapping[str, Callable[..., Any]] = {
    **{name: each for name, each in FILTERS.items() if name not in _LEFT_OUT},
    **{name: _with_narrow(name) for name in ("batch", "center", "round", "slice")},
    "format": _format,
    "from_json": _from_json,
    "indent": _indent,
    "join": _join,
    "replace": _replace,
    "string": as_text,
    "to_json": _to_json,
    "tojson": _to_json,
    "wordwrap": _wordwrap,
}

# They make what isn't JSON, or as much as the inputs want.
_REFUSED_METHODS = frozenset({"encode", "expandtabs", "to_bytes", "translate"})
_PADDING_METHODS = frozenset({"center", "ljust", "rjust", "zfill"})


class AbsentError(UndefinedError):
    """Something was used that is not there.

    Attributes:
        within: what should have it; jinja2's ``missing`` for the variables.
        name: its name, key or index.
    """

    def __init__(self, within: Any, name: Any, message: str) -> None:
        super().__init__(message)
        self.within = within
        self.name = name


class _Absent(StrictUndefined):
    """A missing value; any use raises an ``AbsentError``."""

    __slots__ = ()

    def __init__(
        self,
        hint: str | None = None,
        obj: Any = missing,
        name: Any = None,
        exc: type[TemplateRuntimeError] = UndefinedError,
    ) -> None:
        shown: Any = exc
        if exc is UndefinedError and hint is None:  # otherwise Jinja's words say more
            shown = partial(AbsentError, obj, name)
        super().__init__(hint, obj, name, shown)


class _Formatter(SandboxedFormatter):
    """Formats one string with bounds on each width and on the whole."""

    length = 0

    def format_field(self, value: Any, format_spec: str) -> str:
        _check_widths(*(int(number) for number in re.findall(r"\d+", format_spec)))
        formatted: str = super().format_field(value, format_spec)
        self.length += len(formatted)
        _check_length(self.length)
        return formatted


def _object(**members: Any) -> dict[str, Any]:
    """Return an object; the class ``dict`` itself would give away methods that change others."""
    return members


# Because it takes the context, Jinja doesn't evaluate it when it compiles.
@pass_context
def _printed(_: Context, value: object) -> str:
    return as_text(value)


class Sandbox(ImmutableSandboxedEnvironment):
    """The environment of all templates."""

    intercepted_binops = frozenset(_OPERATORS)
    concat = staticmethod(joined)

    def __init__(self) -> None:
        super().__init__(
            undefined=_Absent, finalize=_printed, keep_trailing_newline=True, optimized=False
        )
        self.filters = dict(_FILTERS)
        self.globals = {"range": safe_range, "dict": _object, "namespace": Namespace}

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:  # noqa: ARG002 - Jinja gives it
        """Return an arithmetic operator's result."""
        return _OPERATORS[operator](left, right)

    def getitem(self, obj: Any, argument: Any) -> Any:
        """Return an item; of what JSON has, attributes aren't items."""
        if type(obj) not in JSON_TYPES:
            return super().getitem(obj, argument)
        try:
            return obj[argument]
        except (TypeError, LookupError):
            return self.undefined(obj=obj, name=argument)

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        """Return whether a template may use an attribute."""
        return attr not in _REFUSED_METHODS and super().is_safe_attribute(obj, attr, value)

    def wrap_str_format(self, value: Any) -> Callable[..., str] | None:
        """Return ``str.format`` and ``str.format_map`` with widths and attributes checked."""
        if super().wrap_str_format(value) is None:
            return None
        formatter, text = _Formatter(self), str(value.__self__)
        if value.__name__ == "format_map":
            return lambda mapping: formatter.vformat(text, (), mapping)
        return lambda *arguments, **named: formatter.vformat(text, arguments, named)

    def call(self, context: Context, function: Any, *arguments: Any, **named: Any) -> Any:
        """Call a function or a method."""
        text, name = getattr(function, "__self__", None), getattr(function, "__name__", "")
        if isinstance(text, str):
            if name in _PADDING_METHODS:
                _check_widths(*arguments)
            elif name == "replace" and all(isinstance(each, str) for each in arguments[:2]):
                function = partial(_replace, text)
            elif name == "join":
                function = lambda values: joined(_separated(values, text))  # noqa: E731
        return super().call(context, function, *arguments, **named)
