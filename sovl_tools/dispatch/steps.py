"""From valid arguments to a bounded result: the steps of a call that run the author's code."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import reduce
from typing import Any

from sovl_tools.annotations.conversion import converter_of
from sovl_tools.annotations.jsonvalues import InvalidResult, is_plain, text_of, to_json
from sovl_tools.annotations.kind import ConversionError
from sovl_tools.dispatch.runner import Step, Take, blocking_call, is_async
from sovl_tools.dispatch.scope import CallScope
from sovl_tools.model.content import CONTENT, Content, Text, cut
from sovl_tools.model.context import ToolContext
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.document import JSON
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
    if definition.preprocess is not None:  # it may return names without a property
        names |= {each.name for each in signature.parameters}
    convert = converter_of(function, names, definition.types)
    if convert is not None:
        yield Step(lambda keywords, _: convert(keywords))
    contexts = signature.contexts
    if contexts:
        yield Step(lambda keywords, scope: {**keywords, **dict.fromkeys(contexts, context(scope))})
    yield Step(
        blocking_call(function, takes_keywords=True),
        lambda keywords, _: function(**keywords),
        is_async(function),
    )
    if definition.postprocess is not None:
        yield _author_step(definition.postprocess)
    yield Step(convert_result)


def _author_step(function: Callable[[Any], Any]) -> Step:
    return Step(blocking_call(function), lambda value, _: function(value), is_async(function))


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


def convert_result(value: Any, _: object = None) -> tuple[JSON, tuple[Content, ...]]:
    """Return a result as JSON, and the content of which it consists, if it does.

    It is a step of every call, which gets the call's scope as well.

    Raises:
        InvalidResult: it holds something that can't be JSON.
    """
    if is_plain(value):
        return value, ()
    # an image or a resource keeps its form for those who can show it
    blocks: list[Content] = []
    if isinstance(value, CONTENT):
        blocks = [value]
    elif type(value) in (list, tuple) and any(isinstance(item, CONTENT) for item in value):
        # a string beside content becomes a text, all else the text of its JSON
        for index, item in enumerate(value):
            if isinstance(item, CONTENT):
                blocks.append(item)
            else:
                is_text = isinstance(item, str)
                blocks.append(Text(item if is_text else text_of(to_json(item, (index,)))))
    return (_blocks(blocks), tuple(blocks)) if blocks else (to_json(value), ())


def _blocks(content: Iterable[Content]) -> list[JSON]:
    return [block.to_json() for block in content]


def limit_result(
    value: JSON, content: tuple[Content, ...], limit: int
) -> tuple[JSON, tuple[Content, ...]]:
    """Return a result and its content of at most ``limit`` bytes, the same if they are already.

    A longer string is cut, and says so at its end. Other JSON is as long as its compact text; if
    that is too long, the text takes its place and is cut. Of content, images, sounds and resources
    stay whole; the texts share the room that those leave, in order, and what finds no room at all
    is left out.

    Raises:
        InvalidResult: what would have to stay whole is too long.
    """
    if not content:
        text = value if type(value) is str else text_of(value)
        short = cut(text, limit)
        return (value if short is text else short), ()
    if sum(block.size for block in content) <= limit:
        return value, content
    # half an image is none: what is no text stays whole, or the result is refused
    sizes = {place: each.size for place, each in enumerate(content) if not isinstance(each, Text)}
    total = sum(sizes.values())
    if total > limit:
        place = max(sizes, key=sizes.__getitem__)
        words = f"has {sizes[place]:,} bytes"
        more = "" if sizes[place] == total else f" of {total:,} in all"
        raise InvalidResult((place,), f"{words}{more}; {limit:,} are allowed for a result")
    found: list[Content] = []
    room = limit - total
    for block in content:
        if not isinstance(block, Text):
            found.append(block)
        elif room > 0:
            cut_text = Text(cut(block.text, room))
            room -= cut_text.size
            found.append(cut_text)
    return _blocks(found), tuple(found)
