"""Whether thinking comes back to Anthropic as it was given, and with the tool uses after it."""

from __future__ import annotations

from collections.abc import Iterator

from sovl_tools.model.document import JSON
from sovl_tools.testing.checking.turns import Part
from sovl_tools.testing.memory import Memory
from sovl_tools.testing.record import Objection


def of_thinking(turns: list[Part], body: dict[str, JSON], memory: Memory) -> Iterator[Objection]:
    """Yield thinking that was changed, and a last tool use whose thinking is not there.

    Thinking of earlier turns may be left out, and all of it where the request disables it.
    """
    spoken = [turn for turn in turns if turn.role == "assistant"]
    for turn in spoken:
        yield from _changed(turn, memory)
    if spoken and body.get("thinking", {}).get("type") != "disabled":
        yield from _missing(spoken[-1], memory)


def _changed(turn: Part, memory: Memory) -> Iterator[Objection]:
    for number, block in enumerate(turn.blocks):
        if block["type"] == "thinking" and block["thinking"] != memory.thoughts.get(
            block["signature"]
        ):
            yield Objection(
                f"messages.{turn.start}.content.{number}: Invalid `signature` in `thinking` block"
            )


def _missing(turn: Part, memory: Memory) -> Iterator[Objection]:
    wanted = [memory.thinking.get(block["id"], []) for block in turn.of_type("tool_use")]
    needed = next((blocks for blocks in wanted if blocks), [])
    given = turn.of_type("thinking", "redacted_thinking")
    if needed and not given:
        yield Objection(
            f"messages.{turn.start}.content.0.type: Expected `thinking` or `redacted_thinking`, but"
            f" found `{turn.blocks[0]['type']}`. When `thinking` is enabled, a final `assistant`"
            " message must start with a thinking block (preceeding the lastmost set of `tool_use`"
            " and `tool_result` blocks)."
        )
    elif needed and turn.blocks[: len(needed)] != needed:
        yield Objection(
            f"messages.{turn.start}.content.0: `thinking` or `redacted_thinking` blocks in the"
            " latest assistant message cannot be modified. These blocks must remain as they were in"
            " the original response."
        )
