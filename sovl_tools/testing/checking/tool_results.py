"""Whether each tool use of a conversation with Anthropic has its result, and in its place."""

from __future__ import annotations

from collections.abc import Iterator

from sovl_tools.testing.checking.turns import Blocks, Part
from sovl_tools.testing.record import Objection


def of_results(turns: list[Part]) -> Iterator[Objection]:
    """Yield tool uses without a result, results without a tool use, and what comes twice."""
    seen: set[str] = set()
    for before, turn in zip([None, *turns], turns, strict=False):
        uses = [block["id"] for block in before.of_type("tool_use")] if before else []
        yield from _unexpected(turn, uses)
        if before and uses:
            yield from _unanswered(before, uses, _leading(turn.blocks))
        for identity in (block["id"] for block in turn.of_type("tool_use")):
            if identity in seen:
                yield Objection(f"messages.{turn.start}: `tool_use` ids must be unique")
            seen.add(identity)
    if turns[-1].of_type("tool_use"):
        uses = [block["id"] for block in turns[-1].of_type("tool_use")]
        yield from _unanswered(turns[-1], uses, [])


def _leading(blocks: Blocks) -> list[str]:
    """Return the ids of the results with which a turn begins."""
    found: list[str] = []
    for block in blocks:
        if block["type"] != "tool_result":
            break
        found.append(block["tool_use_id"])
    return found


def _unanswered(turn: Part, uses: list[str], answered: list[str]) -> Iterator[Objection]:
    missing = [identity for identity in uses if identity not in answered]
    if missing:
        yield Objection(
            f"messages.{turn.start}: `tool_use` ids were found without `tool_result` blocks"
            f" immediately after: {', '.join(missing)}. Each `tool_use` block must have a"
            " corresponding `tool_result` block in the next message."
        )


def _unexpected(turn: Part, uses: list[str]) -> Iterator[Objection]:
    met: set[str] = set()
    for number, block in enumerate(turn.blocks):
        if block["type"] != "tool_result":
            continue
        identity = block["tool_use_id"]
        if identity not in uses:
            yield Objection(
                f"messages.{turn.start}.content.{number}: unexpected `tool_use_id` found in"
                f" `tool_result` blocks: {identity}. Each `tool_result` block must have a"
                " corresponding `tool_use` block in the previous message."
            )
        elif identity in met:
            yield Objection(
                f"messages.{turn.start}.content.{number}: each tool_use must have a single result."
                f" Found multiple `tool_result` blocks with id: {identity}"
            )
        met.add(identity)
