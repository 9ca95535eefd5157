"""Procedures by name, in files and as dictionaries."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import sovl_tools
from sovl_tools import ProcedureManager, Tooler
from sovl_tools.procedures.errors import InputError, ProcedureError, ProcedureNotFoundError
from tests.procedures.workshop import (
    add,
    call,
    inputs,
    manager_of,
    procedure,
    registry_of,
    returning,
    values,
)

YAML = """\
name: {name}
description: Returns a string.
steps:
  - action: return
    value: {value}
"""


def save(path: Path, value: str = "done") -> Path:
    path.write_text(YAML.format(name=path.stem, value=value))
    return path


def other(name: str, save_as: str) -> dict[str, Any]:
    return {"action": "procedure", "procedure": name, "save_as": save_as}


def test_a_manager_calls_tools_with_the_tooler_that_it_is_given() -> None:
    seen: list[str] = []
    registry = registry_of(add)
    tooler = Tooler(registry, observers=[lambda event: seen.append(event.tool)])
    ProcedureManager(registry, tooler).run_sync(procedure(call("add", a=1, b=2)))
    assert seen == ["add"]


@pytest.mark.parametrize("name", ["sample.yaml", "sample.yml", "sample"])
def test_a_file_is_run(tmp_path: Path, name: str) -> None:
    path = save(tmp_path / name)
    assert manager_of().run_sync(path) == "done"
    assert manager_of().run_sync(str(path)) == "done"


def test_a_procedure_that_was_added_is_run_by_its_name() -> None:
    manager = manager_of()
    added = manager.add(procedure(returning(1)))
    assert manager.procedures == {"sample": added}
    assert manager.run_sync("sample") == 1


def test_an_unknown_name_is_told_with_a_suggestion() -> None:
    manager = manager_of()
    manager.add(procedure(returning(1)))
    with pytest.raises(ProcedureNotFoundError) as raised:
        manager.run_sync("smaple")
    assert str(raised.value) == "there's no procedure 'smaple'; did you mean 'sample'?"
    with pytest.raises(ProcedureNotFoundError, match=r"^there's no procedure 'quite_different'$"):
        manager.check("quite_different")


def test_what_a_procedure_runs_is_checked_before_it_does(tmp_path: Path) -> None:
    called: list[int] = []

    def note() -> None:
        """Note."""
        called.append(1)

    manager = manager_of(note)
    manager.add(procedure(call("nowhere"), name="inner"))
    manager.add(procedure(other("inner", "x"), name="middle"))
    source = procedure(call("note"), other("middle", "x"), other("inner", "y"))
    assert manager.check(source) == ()
    with pytest.raises(ProcedureError) as raised:
        manager.run_sync(source)
    (diagnostic,) = raised.value.diagnostics
    assert (diagnostic.code, diagnostic.tool) == ("ST754", "inner")
    assert not called


def test_inputs_that_do_not_fit_are_refused() -> None:
    schema = inputs("n", "m", n={"type": "integer"}, m={"type": "integer"})
    source = procedure(values(x=1), inputs=schema)
    with pytest.raises(InputError) as raised:
        manager_of().run_sync(source, {"n": "5", "k": 1})
    assert str(raised.value) == (
        "the inputs of sample do not match: k: is not a parameter; did you mean 'm'?; "
        'm: is required; n: must be an integer, not the string "5"'
    )


def test_inputs_and_defaults_are_copied() -> None:
    schema = inputs(given={}, default={"default": [1]})
    given = {"given": [1]}

    def spoil(_: Any, context: sovl_tools.StepContext) -> None:
        context.inputs["given"].append(2)
        context.inputs["default"].append(2)

    manager = manager_of(spoil=spoil)
    manager.add(procedure({"action": "spoil"}, returning("{{ inputs }}"), inputs=schema))
    assert manager.run_sync("sample", given) == {"given": [1], "default": [1]}
    assert manager.run_sync("sample", given) == {"given": [1], "default": [1]}
    assert given == {"given": [1]}


def test_procedures_are_found_beside_the_one_that_runs_them(tmp_path: Path) -> None:
    save(tmp_path / "inner.yaml", "beside")
    (tmp_path / "below").mkdir()
    save(tmp_path / "below" / "inner.yaml", "below")
    (tmp_path / "below" / "outer.json").write_text(
        json.dumps(procedure(other("inner", "x"), returning("{{ x }}"), name="outer"))
    )
    (tmp_path / "outer.json").write_text(
        json.dumps(procedure(other("inner", "x"), returning("{{ x }}"), name="outer"))
    )
    assert manager_of().run_sync(tmp_path / "outer.json") == "beside"
    assert manager_of().run_sync(tmp_path / "below" / "outer.json") == "below"
    manager = manager_of()
    manager.add(procedure(returning("added"), name="inner"))
    assert manager.run_sync(tmp_path / "outer.json") == "added"
