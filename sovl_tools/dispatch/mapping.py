"""One tool over many inputs, with no more of them in memory than are under way."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice
from queue import SimpleQueue
from sys import maxsize
from typing import NamedTuple

from sovl_tools.dispatch.parse_arguments import Arguments
from sovl_tools.dispatch.scope import new_call_id
from sovl_tools.model.errors import SovlToolsError
from sovl_tools.model.result import ToolResult
from sovl_tools.threads import start

_AHEAD = 4


class Mapped(NamedTuple):
    """What came of one input.

    Attributes:
        place: its place among the inputs, from 0.
        arguments: the input.
        result: of its call.
    """

    place: int
    arguments: Arguments
    result: ToolResult


def map_calls(
    call: Callable[..., ToolResult],
    cancel: Callable[[str], object],
    inputs: Iterable[Arguments],
    *,
    limit: int,
    ordered: bool,
) -> Iterator[Mapped]:
    """Make a call for each input, ``limit`` at a time, and yield what comes of them.

    Results come as they are there, or in the order of the inputs, with a few calls ahead of the
    slowest. Whoever stops early cancels what is under way.
    """
    source = enumerate(inputs)
    ended: SimpleQueue[tuple[Mapped | None, BaseException | None]] = SimpleQueue()
    under_way: dict[int, str] = {}
    held: dict[int, Mapped] = {}
    following = 0

    def make(place: int, arguments: Arguments, call_id: str) -> Mapped:
        return Mapped(place, arguments, call(arguments, call_id=call_id))

    def begin() -> None:
        room = min(limit - len(under_way), _AHEAD * limit - len(held))
        for place, arguments in islice(source, min(max(room, 0), maxsize)):
            call_id = new_call_id()
            try:
                start(
                    partial(make, place, arguments, call_id),
                    lambda mapped, error: ended.put((mapped, error)),
                )
            except RuntimeError as error:
                words = f"there is no thread for more than {len(under_way)} calls at a time"
                raise SovlToolsError(f"{words}: {error}") from error
            under_way[place] = call_id

    try:
        begin()
        while under_way:
            mapped, error = ended.get()
            if mapped is None:
                raise error or RuntimeError("a call has no result")
            del under_way[mapped.place]
            held[mapped.place] = mapped
            # before the caller looks at the result, so that no worker waits for that
            begin()
            if not ordered:
                yield held.popitem()[1]
            while following in held:
                yield held.pop(following)
                following += 1
            begin()  # there was no room if the slowest of all held everything up
    finally:
        for call_id in under_way.values():
            cancel(call_id)
