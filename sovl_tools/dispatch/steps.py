"""From valid arguments to a bounded result: the steps of a call that run the author's code."""

from __future__ import annotations

import inspect
from collections.abc import (
    AsyncGenerator,
    Callable,
    Coroutine,
    Generator,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import aclosing, closing
from functools import partial
from types import AsyncGeneratorType, CoroutineType, GeneratorType
from typing import Any, NamedTuple, TypeAlias

from sovl_tools.annotations.conversion import converter_of
from sovl_tools.annotations.jsonvalues import (
    InvalidResult,
    ItemLimit,
    is_lazy,
    is_plain,
    take_limited,
    text_of,
    to_json,
)
from sovl_tools.dispatch.limiter import Limiter
from sovl_tools.dispatch.scope import CallScope, Sink
from sovl_tools.model.content import CONTENT, Content, Structured, Text, cut
from sovl_tools.model.context import ToolContext
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.document import JSON
from sovl_tools.model.errors import RunCancelledError, ToolError
from sovl_tools.signature.signature import fields_of, from_function

Take: TypeAlias = Callable[[Any, CallScope | None], Any]
"""From a value to the next one, with the scope of the call."""

AwaitThread: TypeAlias = Callable[..., Coroutine[Any, Any, Any]]
"""Awaits a function on a thread; see ``async_runner``, the only module that imports asyncio."""

TakeAsync: TypeAlias = Callable[[Any, CallScope | None, AwaitThread], Coroutine[Any, Any, Any]]

Value: TypeAlias = tuple[JSON, tuple[Content, ...]]
"""A result as JSON, and its content blocks, if it has any."""


class Step(NamedTuple):
    """One of the steps from a tool's arguments to its value.

    Attributes:
        take: from a value to the next one; it waits for async work.
        awaited: likewise on an event loop, awaiting it; None for our own step.
        is_async: whether there is something to await.
    """

    take: Take
    awaited: TakeAsync | None = None
    is_async: bool = False


def chained(steps: Iterable[Step]) -> Take:
    """Return a function that takes the steps in order."""
    takes = [each.take for each in steps]
    if len(takes) == 1:
        return takes[0]

    def take(value: Any, scope: CallScope | None) -> Any:
        for each in takes:
            value = each(value, scope)
        return value

    return take


def chained_async(steps: Sequence[Step], threads: Limiter) -> TakeAsync:
    """Return a function that takes the steps in order on an event loop.

    Sync functions of an author run on a thread, unless inline.
    """
    first = steps[0].awaited
    if len(steps) == 1 and first is not None:
        return first

    async def take(value: Any, scope: CallScope | None, await_thread: AwaitThread) -> Any:
        for each in steps:
            if each.awaited is None:
                value = each.take(value, scope)
            elif each.is_async or scope is None or scope.mode == "inline":
                value = await each.awaited(value, scope, await_thread)
            else:
                value = await await_thread(partial(each.take, value, scope), scope, threads=threads)
        return value

    return take


def author_steps(
    definition: ToolDefinition,
    context: Callable[[CallScope | None], ToolContext],
    threads: Limiter | None = None,
) -> Iterator[Step]:
    """Yield the steps from valid arguments to JSON: all that concern the author's own objects.

    ``threads`` lets in as many threads as there can be.
    """
    function, signature = definition.function, from_function(definition.function)
    if definition.preprocess is not None:
        yield author_step(definition.preprocess)
        yield Step(_as_keywords)
    fields = fields_of(function)
    if fields:
        yield Step(lambda keywords, _: {**_filled(fields, keywords), **keywords})
    names = {*definition.parameters.get("properties", ())}
    if definition.preprocess is not None:  # it may return names without a property
        names |= {each.name for each in signature.parameters}
    convert = converter_of(function, names, definition.types)
    if convert is not None:
        yield Step(lambda keywords, _: convert(keywords))
    contexts = signature.contexts
    if contexts:
        yield Step(lambda keywords, scope: {**keywords, **dict.fromkeys(contexts, context(scope))})
    after = definition.postprocess
    yield author_step(function, takes_keywords=True, is_last=after is None, threads=threads)
    if after is not None:
        yield author_step(after, is_last=True, threads=threads)


def _filled(fields: Mapping[str, Any], keywords: Mapping[str, Any]) -> dict[str, Any]:
    """Return the defaults of pydantic's fields for the arguments that were omitted."""
    return {
        name: field.get_default(call_default_factory=True)
        for name, field in fields.items()
        if name not in keywords
    }


def author_step(
    function: Callable[..., Any],
    *,
    takes_keywords: bool = False,
    is_last: bool = False,
    threads: Limiter | None = None,
) -> Step:
    """Return the step that calls a function of the author's, and waits for what that returns.

    Args:
        function: takes the one value, or all keywords of a dictionary.
        takes_keywords: which of the two.
        is_last: whether its value becomes JSON.
        threads: see ``author_steps``.
    """

    def take(argument: Any, scope: CallScope | None) -> Any:
        value = function(**argument) if takes_keywords else function(argument)
        if type(value) not in FINAL:
            value = _wait_for(value, scope)
        return convert_result(value) if is_last else value

    async def take_async(argument: Any, scope: CallScope | None, await_thread: AwaitThread) -> Any:
        value = function(**argument) if takes_keywords else function(argument)
        if type(value) is CoroutineType:
            value = await value
        if type(value) not in FINAL:
            value = await _await_value(value, scope)
        if not is_last:
            return value
        if is_plain(value):
            return value, ()
        # a sequence of the tool's own can take for ever to be read
        if is_lazy(value) and not (scope is not None and scope.mode == "inline"):
            return await await_thread(partial(convert_result, value), scope, threads=threads)
        return convert_result(value)

    return Step(take, take_async, is_async(function))


def is_async(function: Any) -> bool:
    """Return whether calling a function returns an awaitable or an async iterable."""
    for each in (function, getattr(function, "__call__", None)):  # noqa: B004 - its code
        if inspect.iscoroutinefunction(each) or inspect.isasyncgenfunction(each):
            return True
    return False


FINAL = frozenset({dict, str, int, float, bool, list, tuple, type(None)})
"""Types of values that are JSON already."""


def _wait_for(value: Any, scope: CallScope | None) -> Any:
    if isinstance(value, GeneratorType):
        # a streaming caller takes the items one by one, and can stop at any of them
        is_stream = scope is not None and scope.sink is not None
        items = _items(value, scope)
        return list(items if is_stream else take_limited(items))
    if isinstance(value, AsyncGeneratorType) or inspect.isawaitable(value):
        # no import cost: who has something to await has imported asyncio
        from sovl_tools.dispatch.background import run_in_background  # noqa: PLC0415

        return run_in_background(_await_value(value, scope))
    return value


def _items(items: Generator[Any, None, Any], scope: CallScope | None) -> Iterator[Any]:
    sink = open_sink(scope)
    with closing(items):
        for item in items:
            if scope is not None and scope.is_stopped:
                raise RunCancelledError
            yield item if sink is None else sink.put(item)


async def _await_value(value: Any, scope: CallScope | None) -> Any:
    """Return the value of a call, awaiting it as often as it takes."""
    if type(value) in FINAL:
        return value
    if isinstance(value, GeneratorType):
        value = _asynchronous(value)
    if not isinstance(value, AsyncGeneratorType):
        return await _await_value(await value, scope) if inspect.isawaitable(value) else value
    found: list[Any] = []
    limit, sink = ItemLimit(), open_sink(scope)
    # closed at once when the call ends early, and not when the garbage collector comes by
    async with aclosing(value):
        async for item in value:
            if sink is None:
                limit.count(item)
                found.append(item)
            else:
                found.append(await sink.put_later(item))
    return found


async def _asynchronous(items: Generator[Any, None, Any]) -> AsyncGenerator[Any, None]:
    with closing(items):
        for item in items:
            yield item


def open_sink(scope: CallScope | None) -> Sink | None:
    """Return the sink for the items of a generator that begins."""
    sink = None if scope is None else scope.sink
    if sink is not None:
        sink.is_used = True
    return sink


def _as_keywords(value: Any, _: object) -> dict[str, Any]:
    """Return the arguments that ``preprocess`` has returned."""
    if not isinstance(value, dict):
        kind = type(value).__name__
        raise ToolError(f"preprocess returned {kind!r}, not the arguments as a dictionary")
    return value


def convert_result(value: Any) -> Value:
    """Return a result as JSON, and its content blocks, if it has any.

    Raises:
        InvalidResult: it contains a value that can't be JSON.
    """
    if is_plain(value):
        return value, ()
    if isinstance(value, Structured):
        return to_json(value.value), value.content
    # an image or a resource keeps its form for hosts that can show it
    blocks: list[Content] = []
    if isinstance(value, CONTENT):
        blocks = [value]
    elif type(value) in (list, tuple) and any(isinstance(item, CONTENT) for item in value):
        # a string next to content becomes a string, all else the text of its JSON
        for index, item in enumerate(value):
            if isinstance(item, CONTENT):
                blocks.append(item)
            else:
                is_text = isinstance(item, str)
                blocks.append(Text(item if is_text else text_of(to_json(item, (index,)))))
    return (_blocks(blocks), tuple(blocks)) if blocks else (to_json(value), ())


def _blocks(content: Iterable[Content]) -> list[JSON]:
    return [block.to_json() for block in content]


def limit_result(value: JSON, content: tuple[Content, ...], limit: int) -> Value:
    """Return a result and its content of at most ``limit`` bytes, the same if they are already.

    A longer string is cut, and ends with a note. The size of other JSON is its compact text; if
    that is too long, the text takes its place and is cut. Of content, images, sounds and resources
    stay whole; the strings share the room that those leave, in order, and what finds no room at all
    is omitted.

    Raises:
        InvalidResult: a value that can't be cut is too long.
    """
    if not content:
        text = value if type(value) is str else text_of(value)
        short = cut(text, limit)
        return (value if short is text else short), ()
    if sum(block.size for block in content) <= limit:
        return value, content
    # half an image isn't one: what isn't text stays whole, or the result is rejected
    total = sum(each.size for each in content if not isinstance(each, Text))
    if total > limit:
        raise InvalidResult((), f"has {total:,} bytes; {limit:,} are allowed for a result")
    found: list[Content] = []
    room = limit - total
    for block in content:
        if not isinstance(block, Text):
            found.append(block)
        elif room > 0:
            cut_text = Text(cut(block.text, room))
            room -= cut_text.size
            found.append(cut_text)
    # structured content has its own limit
    if value != _blocks(content):
        return limit_result(value, (), limit)[0], tuple(found)
    return _blocks(found), tuple(found)
