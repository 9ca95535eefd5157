"""A tool that is ready to be called: everything that does not depend on the arguments."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any, Literal, NamedTuple, TypeAlias

from sovl_tools.annotations.conversion import ConversionError, converter_of
from sovl_tools.model.call import Mode
from sovl_tools.model.content import Content
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.document import JSON
from sovl_tools.model.errors import SchemaError, ToolError
from sovl_tools.model.result import Failure
from sovl_tools.running.arguments import ArgumentCheck
from sovl_tools.running.gate import Gate
from sovl_tools.running.hooks import Hook, formed
from sovl_tools.running.jsonvalues import InvalidResult
from sovl_tools.running.results import bounded, converted
from sovl_tools.running.statistics import CallLog
from sovl_tools.running.world import Work
from sovl_tools.signature.from_function import from_function
from sovl_tools.validation import Validator, compile_schema
from sovl_tools.validation.wording import describe

Coerce: TypeAlias = Literal["strict", "lenient"]


class Settings(NamedTuple):
    """What a Tooler says of all its calls; see there."""

    timeout: float | None = None
    mode: Mode | None = None
    coerce: Coerce = "strict"
    max_result_bytes: int | None = None
    hooks: tuple[Hook, ...] = ()
    is_observed: bool = False


Value: TypeAlias = tuple[JSON, tuple[Content, ...]]
Road: TypeAlias = Generator[Work, Any, Value]
"""The way of one call from valid arguments to its value; see ``Plan.road``."""


class Plan:
    """What calls of one tool have in common; made at its first call.

    Attributes:
        check: from what was given to the valid arguments, or to what is wrong with them.
        limit: how long a call may take, in seconds.
        mode: where a sync tool runs, if that was said.
        gate: lets in only so many calls at a time; None for any number.
        contexts: names of the parameters that receive a ToolContext.
        secrets: environment variables whose values must not be seen.
        is_quick_sync: whether a sync call is a check and a function call and nothing else.
        is_quick_async: whether an awaited call is that.
        log: where its calls are counted.

    Raises:
        SchemaError: a schema of the tool is none that a validator can be made of.
    """

    __slots__ = (
        "_convert", "_known", "_maximum", "_output", "_required", "check", "contexts", "definition",
        "function", "gate", "hooks", "is_async", "is_quick_async", "is_quick_sync", "limit",
        "log", "mode", "name", "repair", "secrets",
    )  # fmt: skip

    def __init__(self, definition: ToolDefinition, settings: Settings, log: CallLog) -> None:
        function, execution = definition.function, definition.execution
        signature = from_function(function)
        with _naming("parameters"):
            check = ArgumentCheck(definition)
        self.definition = definition
        self.function = function
        self.log = log
        self.name = definition.name
        # the bound method, because calling the object would take a detour through its type
        self.check: Callable[[Any], dict[str, Any] | Failure] = check.__call__
        self.repair = check.repaired
        self.limit: float | None = execution.get("timeout") or settings.timeout
        self.mode: Mode | None = mode_of(definition, settings)
        self.gate = Gate(execution["max_concurrency"]) if "max_concurrency" in execution else None
        self.contexts = signature.contexts
        self.hooks = tuple(
            formed(each) for each in settings.hooks if each.concerns(definition.name)
        )
        self.secrets = tuple(definition.requires.get("env", ()))
        self.is_async = is_async(function)
        names = definition.parameters.get("properties", ())
        self._convert = converter_of(function, names, definition.types)
        with _naming("output_schema"):
            self._output = _validator(definition)
        self._maximum = execution.get("max_result_bytes") or settings.max_result_bytes
        self._required = frozenset(signature.required) - {*self.contexts}
        # a wrapper may take more than what it wraps, whose signature counts
        is_open = signature.takes_any_keyword or hasattr(function, "__wrapped__")
        self._known = None if is_open else {each.name for each in signature.parameters}
        self._find_shortcuts(definition, settings)

    def _find_shortcuts(self, definition: ToolDefinition, settings: Settings) -> None:
        own = (self._convert, self._output, self._maximum, self.gate)
        code = (definition.preprocess, definition.postprocess)
        is_quick = all(each is None for each in (*own, *code)) and not (
            self.contexts or self.hooks or settings.is_observed
        )
        is_unlimited = self.limit is None and self.mode != "thread"
        self.is_quick_sync = is_quick and is_unlimited and not self.is_async
        self.is_quick_async = is_quick and self.is_async

    def road(self, arguments: Mapping[str, Any], injected: Mapping[str, Any]) -> Road:
        """Yield the author's functions in turn, take what they return, return the value.

        Told once for sync and async calls: a driver for each runs the functions.

        Raises:
            ConversionError: an argument does not convert to its annotation, or is missing.
            InvalidResult: the value is no JSON, or breaks the ``output_schema``.
            ToolError: ``preprocess`` returned no arguments, or others than the function takes.
        """
        definition = self.definition
        keywords = dict(arguments)
        if definition.preprocess is not None:
            keywords = yield _work(definition.preprocess, keywords)
            self._check_preprocessed(keywords)
        if self._convert is not None:
            keywords = self._convert(keywords)
        value = yield Work(partial(self.function, **{**keywords, **injected}), self.is_async)
        if definition.postprocess is not None:
            value = yield _work(definition.postprocess, value)
        return self._finished(value)

    def _check_preprocessed(self, keywords: Any) -> None:
        if not isinstance(keywords, dict):
            kind = type(keywords).__name__
            raise ToolError(f"preprocess returned {kind!r}, not the arguments as a dictionary")
        for name in keywords:
            if not isinstance(name, str):
                raise ToolError(f"preprocess returned the key {name!r:.60}, which is no string")
            if self._known is not None and name not in self._known:
                raise ToolError(f"preprocess returned {name!r:.60}, which is no parameter")
        missing = sorted(self._required - keywords.keys())
        if missing:
            raise ConversionError([((name,), "is required") for name in missing])

    def _finished(self, value: Any) -> Value:
        result, content = converted(value)
        if self._output is not None and not self._output.is_valid(result):
            problem = self._output.problems(result)[0]
            raise InvalidResult(problem.path, describe(problem))
        if self._maximum is None:
            return result, content
        return bounded(result, content, self._maximum)


class Absence:
    """In a plan's place for a tool that can't be called: the answer to every call is why."""

    __slots__ = ("failure",)
    is_quick_sync = is_quick_async = is_async = False
    hooks: tuple[Hook, ...] = ()
    secrets: tuple[str, ...] = ()
    limit = log = None

    def __init__(self, failure: Failure) -> None:
        self.failure = failure


_MODES: dict[str, Mode] = {"inline": "inline", "thread": "thread", "process": "thread"}


def mode_of(definition: ToolDefinition, settings: Settings) -> Mode | None:
    """Return where a sync tool runs, if that was said."""
    return _MODES.get(definition.execution.get("mode", ""), settings.mode)


def is_async(function: Any) -> bool:
    """Tell whether calling a function gives something to await or to iterate with ``async for``."""
    for each in (function, getattr(function, "__call__", None)):  # noqa: B004 - its code
        if inspect.iscoroutinefunction(each) or inspect.isasyncgenfunction(each):
            return True
    return False


def _work(function: Callable[[Any], Any], argument: Any) -> Work:
    return Work(partial(function, argument), is_async(function))


@contextmanager
def _naming(part: str) -> Iterator[None]:
    """Say of a schema that can't be used which one it is."""
    try:
        yield
    except SchemaError as error:
        raise SchemaError(f"its {part} can't be used: {error}") from error


def _validator(definition: ToolDefinition) -> Validator | None:
    schema: JSON = definition.output_schema
    return None if schema is None else compile_schema(schema)
