"""A result as a model gets it: JSON, content, and no more of either than it may have."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from sovl_tools.annotations.jsonvalues import InvalidResult, is_plain, text_of, to_json
from sovl_tools.model.content import CONTENT, Content, Text, cut
from sovl_tools.model.document import JSON, Path


def convert_result(value: Any, _: object = None) -> tuple[JSON, tuple[Content, ...]]:
    """Return a result as JSON, and the content of which it consists, if it does.

    It is a step of every call, which gets the call's scope as well.

    Raises:
        InvalidResult: it holds something that can't be JSON.
    """
    if is_plain(value):
        return value, ()
    # an image or a resource keeps its form for those who can show it
    content = content_of(value)
    return (_blocks(content), content) if content else (to_json(value), ())


def content_of(value: Any) -> tuple[Content, ...]:
    """Return a result as content if it is content, or a list or tuple with content among it.

    Strings beside content become texts, all else texts of its JSON. For any other result nothing
    is returned.

    Raises:
        InvalidResult: something beside content can't be JSON.
    """
    if isinstance(value, CONTENT):
        return (value,)
    if type(value) in (list, tuple) and any(isinstance(item, CONTENT) for item in value):
        return tuple(_block(item, (index,)) for index, item in enumerate(value))
    return ()


def _block(item: Any, path: Path) -> Content:
    if isinstance(item, CONTENT):
        return item
    return Text(item if isinstance(item, str) else text_of(to_json(item, path)))


def _blocks(content: Iterable[Content]) -> list[JSON]:
    return [block.to_json() for block in content]


def limit_result(
    value: JSON, content: tuple[Content, ...], limit: int
) -> tuple[JSON, tuple[Content, ...]]:
    """Return a result and its content of at most ``limit`` bytes, the same if they are already.

    See ``shorten_json`` for JSON. Of content, images, sounds and resources stay whole; the texts
    share the room that those leave, in order, and what finds no room at all is left out.

    Raises:
        InvalidResult: what would have to stay whole is too long.
    """
    if not content:
        return shorten_json(value, limit), ()
    if sum(block.size for block in content) <= limit:
        return value, content
    found = tuple(_fitting(content, limit - _whole(content, limit)))
    return _blocks(found), found


def shorten_json(value: JSON, limit: int) -> JSON:
    """Return a result of at most ``limit`` bytes in UTF-8, the same object if it is one already.

    A longer string is cut, and says so at its end. Other JSON is as long as its compact text;
    if that is too long, the text takes its place and is cut.
    """
    if type(value) is str:
        return cut(value, limit)
    text = text_of(value)
    short = cut(text, limit)
    return value if short is text else short


def _whole(content: Iterable[Content], limit: int) -> int:
    """Return how many bytes can't be cut."""
    sizes = {place: each.size for place, each in enumerate(content) if not isinstance(each, Text)}
    total = sum(sizes.values())
    if total > limit:
        place = max(sizes, key=sizes.__getitem__)
        words = f"has {sizes[place]:,} bytes"
        more = "" if sizes[place] == total else f" of {total:,} in all"
        raise InvalidResult((place,), f"{words}{more}; {limit:,} are allowed for a result")
    return total


def _fitting(content: Iterable[Content], room: int) -> Iterator[Content]:
    for block in content:
        if not isinstance(block, Text):
            yield block
        elif room > 0:
            short = Text(cut(block.text, room))
            room -= short.size
            yield short
