"""The steps from valid arguments to JSON, in which the author's own functions and objects are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import reduce
from typing import Any

from sovl_tools.annotations.conversion import converter_of
from sovl_tools.annotations.kind import ConversionError
from sovl_tools.dispatch.results import convert_result
from sovl_tools.dispatch.runner import Step, Take, blocking_call, is_async
from sovl_tools.dispatch.scope import CallScope
from sovl_tools.model.context import ToolContext
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.errors import ToolError
from sovl_tools.signature.signature import Signature, from_function


def chained(steps: Iterable[Step]) -> Take:
    """Return what takes the steps one after another."""
    takes: list[Take] = [each.take for each in steps]
    if not takes:
        return lambda value, _: value
    return reduce(
        lambda first, second: lambda value, scope: second(first(value, scope), scope), takes
    )


def author_steps(
    definition: ToolDefinition, context: Callable[[CallScope | None], ToolContext]
) -> Iterator[Step]:
    """Yield the steps from valid arguments to JSON: all that concern the author's own objects."""
    function, signature = definition.function, from_function(definition.function)
    if definition.preprocess is not None:
        yield _author_step(definition.preprocess)
        yield Step(_preprocessed_check(function, signature))
    names = {*definition.parameters.get("properties", ())}
    if definition.preprocess is not None:  # it may return what no property stands for
        names |= {each.name for each in signature.parameters}
    convert = converter_of(function, names, definition.types)
    if convert is not None:
        yield Step(lambda keywords, _: convert(keywords))
    if signature.contexts:
        yield Step(
            lambda keywords, scope: {
                **keywords,
                **{name: context(scope) for name in signature.contexts},
            }
        )
    yield Step(
        blocking_call(function, takes_keywords=True),
        lambda keywords: function(**keywords),
        is_async(function),
    )
    if definition.postprocess is not None:
        yield _author_step(definition.postprocess)
    yield Step(convert_result)


def _author_step(function: Callable[[Any], Any]) -> Step:
    return Step(blocking_call(function), function, is_async(function))


def _preprocessed_check(function: Any, signature: Signature) -> Callable[..., dict[str, Any]]:
    """Return what refuses arguments of ``preprocess`` that the function can't have."""
    required = frozenset(signature.required) - {*signature.contexts}
    # a wrapper may take more than what it wraps, whose signature counts
    is_open = signature.takes_any_keyword or hasattr(function, "__wrapped__")
    known = None if is_open else {each.name for each in signature.parameters}

    def check(keywords: Any, _: object) -> dict[str, Any]:
        if not isinstance(keywords, dict):
            kind = type(keywords).__name__
            raise ToolError(f"preprocess returned {kind!r}, not the arguments as a dictionary")
        for name in keywords:
            if not isinstance(name, str):
                raise ToolError(f"preprocess returned the key {name!r:.60}, which is no string")
            if known is not None and name not in known:
                raise ToolError(f"preprocess returned {name!r:.60}, which is no parameter")
        missing = sorted(required - keywords.keys())
        if missing:
            raise ConversionError([((name,), "is required") for name in missing])
        return keywords

    return check
