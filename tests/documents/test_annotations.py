"""Annotations that only the decorator can resolve reach the call as what they are."""

from __future__ import annotations

from dataclasses import dataclass

from sovl_tools import Tooler, ToolRegistry, tool

Maybe = int | None


@tool
def half(number: Maybe) -> object:
    """Halve a number, if there is one."""
    return None if number is None else number / 2


class Desk:
    """Keeps what is laid on it."""

    @dataclass
    class Note:
        """A note."""

        text: str

    @tool
    def lay(self, note: Note) -> str:
        """Lay a note on the desk."""
        return f"{type(note).__name__}: {note.text}"


def test_an_alias_of_optional_may_be_left_out() -> None:
    registry = ToolRegistry()
    registry.register(half)
    tooler = Tooler(registry)
    assert tooler.call_sync("half").error is None
    assert tooler.call_sync("half", {"number": 3}).value == 1.5


def test_a_method_gets_an_instance_of_a_class_of_its_own_class() -> None:
    registry = ToolRegistry()
    registry.register(Desk())
    assert Tooler(registry).call_sync("lay", {"note": {"text": "hi"}}).value == "Note: hi"
