"""What steps refer to, and in which order they come: ST753 to ST758."""

from __future__ import annotations

from typing import Any

from sovl_tools import ProcedureManager
from tests.procedures.workshop import (
    add,
    call,
    found,
    manager_of,
    procedure,
    returning,
    values,
)
from tests.tables import check_each


def other(name: str, **keys: Any) -> dict[str, Any]:
    return {"action": "procedure", "procedure": name, **keys}


def said(*steps: dict[str, Any], manager: ProcedureManager | None = None) -> list[str]:
    return found((manager or manager_of(add)).check(procedure(*steps)))


def test_a_tool_that_did_not_load_is_told_with_the_reason(write: Any, tmp_path: Any) -> None:
    from sovl_tools import ToolRegistry

    write("broken", code="import nothing_of_the_kind\n")
    manager = ProcedureManager(ToolRegistry.from_directory(tmp_path / "tools"))
    (diagnostic,) = manager.check(procedure(call("broken")))
    assert diagnostic.message.startswith("tool 'broken' is not available: ")
    assert "nothing_of_the_kind" in diagnostic.message
    assert diagnostic.help is None


@check_each("is_inside", [False, True])
@check_each(
    "around",
    [
        lambda steps: {"action": "for_each", "items": [1], "steps": steps},
        lambda steps: {"action": "parallel", "branches": {"one": steps}},
    ],
    ids=["for_each", "parallel"],
)
def test_return_within_what_runs_at_a_time_is_told(around: Any, is_inside: Any) -> None:
    steps = [returning(1)]
    step = {"action": "if", "condition": "true", "then": steps}
    outer = around([step] if is_inside else steps)
    (message,) = said(outer)
    assert message.startswith(f"ST757 a step returns from within {outer['action']}, at ")


@check_each("step", [{**returning(1), "when": "false"}, {**returning(1), "on_error": "continue"}])
def test_a_step_behind_what_may_not_be_the_end_is_fine(step: dict[str, Any]) -> None:
    assert said(step, values(x=1)) == []


def test_without_a_catalog_tools_and_actions_are_not_asked_for() -> None:
    from sovl_tools.procedures.parse.library import check_procedure, read_procedure

    source = procedure(call("nowhere", a=1), {"action": "nothing"})
    assert check_procedure(read_procedure(source), None) == ()
