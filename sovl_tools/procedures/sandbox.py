"""Jinja's immutable sandbox, made for JSON.

Keys come before attributes: ``page.items`` is what the object has under that name, and
``page.items()`` the method. Results print as JSON does: ``true``, not ``True``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

from jinja2 import StrictUndefined, TemplateSyntaxError
from jinja2.exceptions import SecurityError, TemplateRuntimeError, UndefinedError
from jinja2.lexer import TokenStream
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment, SandboxedFormatter
from jinja2.utils import Namespace, missing

from sovl_tools.model.document import JSON_TYPES
from sovl_tools.procedures.filters import TABLE, separated
from sovl_tools.procedures.language import EvaluationError
from sovl_tools.procedures.operators import (
    SIGNS,
    bounded_range,
    check_counts,
    check_widths,
    computed,
    replaced,
)
from sovl_tools.procedures.plain import article, as_text, joined

_WIDENING = frozenset({"center", "expandtabs", "ljust", "rjust", "zfill"})


def _join(separator: str, values: Iterable[Any]) -> str:
    return joined(separated(values, separator))


def _translate(_text: str, *_: Any) -> str:
    raise EvaluationError("translate is not there", advice="use replace")


_BOUNDED: dict[str, Callable[..., str]] = {
    "join": _join,
    "replace": replaced,
    "translate": _translate,
}
"""Methods of texts whose results may be longer than all that they are given together."""


class AbsentError(UndefinedError):
    """Something was used that is not there.

    Attributes:
        within: what should have it; jinja2's ``missing`` for the variables.
        name: its name, key or index.
        hint: Jinja's words where there is more to say than that.
    """

    def __init__(self, message: str, *, within: Any, name: Any, hint: str | None) -> None:
        super().__init__(message)
        self.within = within
        self.name = name
        self.hint = hint


class _Absent(StrictUndefined):
    """What is not there; whatever is done with it raises an ``AbsentError``."""

    __slots__ = ()

    def __init__(
        self,
        hint: str | None = None,
        obj: Any = missing,
        name: Any = None,
        exc: type[TemplateRuntimeError] = UndefinedError,
    ) -> None:
        told: Any = exc
        if exc is UndefinedError:
            told = partial(AbsentError, within=obj, name=name, hint=hint)
        super().__init__(hint, obj, name, told)


class _Formatter(SandboxedFormatter):
    def format_field(self, value: Any, format_spec: str) -> str:
        check_widths(format_spec)
        formatted: str = super().format_field(value, format_spec)
        return formatted


class Sandbox(ImmutableSandboxedEnvironment):
    """The environment of all templates.

    The nodes of its syntax trees carry offsets, from 1, where Jinja puts lines.
    """

    intercepted_binops = SIGNS

    def __init__(self) -> None:
        super().__init__(undefined=_Absent, finalize=as_text, keep_trailing_newline=True)
        self.filters = dict(TABLE)
        self.globals = {"range": bounded_range, "dict": _object, "namespace": Namespace}

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:  # noqa: ARG002 - Jinja gives it
        """Return what an operator makes of two values, within bounds."""
        return computed(operator, left, right)

    def getitem(self, obj: Any, argument: Any) -> Any:
        """Return an item; of what JSON has, attributes are no items."""
        if type(obj) not in JSON_TYPES:
            return super().getitem(obj, argument)
        try:
            return obj[argument]
        except (TypeError, LookupError):
            return self.undefined(obj=obj, name=argument)

    def unsafe_undefined(self, obj: Any, attribute: str) -> Any:
        """Return what complains of an attribute that is out of bounds."""
        words = f"access to {attribute!r} of {article(obj)} is unsafe"
        return self.undefined(words, obj=obj, name=attribute, exc=SecurityError)

    def wrap_str_format(self, value: Any) -> Callable[..., str] | None:
        """Return ``str.format`` and ``str.format_map`` with widths and attributes checked."""
        if super().wrap_str_format(value) is None:
            return None
        formatter, text = _Formatter(self), str(value.__self__)
        if value.__name__ == "format_map":
            return lambda mapping: formatter.vformat(text, (), mapping)
        return lambda *arguments, **named: formatter.vformat(text, arguments, named)

    def call(self, context: Context, function: Any, *arguments: Any, **named: Any) -> Any:
        """Call a method, within bounds."""
        if getattr(function, "__name__", "") in _WIDENING:
            check_counts(*arguments, *named.values())
        bounded = _BOUNDED.get(getattr(function, "__name__", ""))
        text = getattr(function, "__self__", None)
        if bounded is not None and isinstance(text, str):
            return bounded(text, *arguments, **named)
        return super().call(context, function, *arguments, **named)

    def _tokenize(
        self, source: str, name: str | None, filename: str | None = None, state: str | None = None
    ) -> TokenStream:
        tokens = self.lexer.tokeniter(source, name, filename, state)
        return TokenStream(self.lexer.wrap(_placed(tokens, source)), name, filename)


def _object(**members: Any) -> dict[str, Any]:
    """Return an object; the class ``dict`` itself would give away methods that change others."""
    return members


def _placed(tokens: Iterable[tuple[int, str, str]], source: str) -> Iterator[tuple[int, str, str]]:
    """Yield tokens with their offset, from 1, in place of their line."""
    position = 0
    try:
        for _, kind, value in tokens:
            # white space that a tag has stripped is no token
            start = max(source.find(value, position), position)
            yield start + 1, kind, value
            position = start + len(value)
    except TemplateSyntaxError as error:
        error.lineno = position + 1
        raise
