"""A result as a model gets it: JSON, content, and no more of either than it may have."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sovl_tools.annotations.jsonvalues import InvalidResult, is_plain, text_of, to_json
from sovl_tools.model.content import CONTENT, Content, Text, cut
from sovl_tools.model.document import JSON


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
