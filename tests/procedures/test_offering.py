"""Procedures as tools."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sovl_tools import Tooler, ToolRegistry
from tests.procedures.workshop import add, call, inputs, procedure, refuse, registry_of, returning


class Folder:
    """A directory of procedures, and a registry that offers them."""

    def __init__(self, path: Path, *functions: Any) -> None:
        self.path = path
        self.registry = registry_of(add, refuse, *functions)

    def save(self, name: str, *steps: Any, **keys: Any) -> None:
        text = json.dumps(procedure(*steps, name=name, **keys))
        (self.path / f"{name}.json").write_text(text)

    def load(self) -> Any:
        return self.registry.load_procedures(self.path)

    def call(self, name: str, **given: Any) -> Any:
        return Tooler(self.registry).call_sync(name, given)


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


DOUBLE = inputs("n", n={"type": "integer"}, plus={"type": "integer", "default": 0})
STEPS = call("add", "x", a="{{ inputs.n * 2 }}", b="{{ inputs.plus }}"), returning("{{ x }}")


def test_a_procedure_is_a_tool(folder: Folder) -> None:
    folder.save("double", *STEPS, inputs=DOUBLE, tags=["numbers"], description="Doubles.")
    change = folder.load()
    assert change.added == ("double",)
    made = folder.registry["double"]
    assert (made.description, made.tags) == ("Doubles.", ("numbers",))
    assert made.parameters == {**DOUBLE, "additionalProperties": False}
    assert folder.call("double", n=4).value == 8
    assert folder.call("double", n=4, plus=1).value == 9
    assert [each["name"] for each in folder.registry.schemas()] == ["add", "double", "refuse"]


def test_a_file_that_can_t_be_opened_takes_no_other_one_down(folder: Folder) -> None:
    folder.save("one", returning(1))
    (folder.path / "two.yaml").symlink_to("nowhere")
    folder.load()
    assert folder.call("one").value == 1
    assert "can't be opened" in " ".join(map(str, folder.registry.report.diagnostics))


def test_what_is_lacking_is_told_when_it_is_called(folder: Folder) -> None:
    folder.save("bad", call("nowhere"))
    folder.load()
    assert folder.registry.report.errors == ()
    failure = folder.call("bad").error
    assert failure is not None
    assert "ST754 there's no tool 'nowhere'" in failure.message

    @folder.registry.tool
    def nowhere() -> None:
        """Be there."""

    assert folder.call("bad").ok


def test_its_steps_are_calls_below_its_own(folder: Folder) -> None:
    folder.save("again", call("again"))
    folder.load()
    failure = folder.call("again").error
    assert failure is not None
    assert "again" in failure.message


def test_an_unsound_procedure_is_in_the_report_and_says_why(folder: Folder) -> None:
    folder.save("good", returning(1))
    folder.save("bad", returning("{{ x"))
    (folder.path / "worse.yaml").write_text("name: [")
    change = folder.load()
    assert (change.added, change.rejected) == (("good",), ("bad", "worse"))
    codes = [(each.code, Path(each.path).name) for each in folder.registry.report.errors]
    assert sorted(codes) == [("ST750", "worse.yaml"), ("ST759", "bad.json")]
    failure = folder.call("bad").error
    assert failure is not None
    assert failure.kind == "unavailable"
    assert "ST759" in failure.message


def test_a_directory_that_is_not_there_or_empty_is_told(folder: Folder) -> None:
    folder.registry.load_procedures(folder.path / "nowhere")
    folder.load()
    told = [each.message for each in folder.registry.report.diagnostics]
    assert any(each.startswith("the procedures can't be read: ") for each in told)
    assert "there's no tool in the directory of procedures" in told


def test_a_reload_sees_what_has_changed(folder: Folder) -> None:
    folder.save("same", returning(1))
    folder.save("other", returning(1))
    folder.save("gone", returning(1))
    folder.load()
    same = folder.registry["same"]
    folder.save("other", returning(2))
    folder.save("new", returning(3))
    (folder.path / "gone.json").unlink()
    change = folder.registry.reload()
    assert (change.added, change.updated, change.removed) == (("new",), ("other",), ("gone",))
    assert folder.registry["same"] is same
    assert folder.call("other").value == 2
    assert not folder.registry.reload()


def test_a_procedure_that_breaks_is_served_as_it_was(folder: Folder) -> None:
    folder.save("one", returning(1))
    folder.load()
    folder.save("one", returning("{{ x"))
    change = folder.registry.reload()
    assert change.rejected == ("one",)
    assert folder.call("one").value == 1
    folder.save("one", returning(2))
    folder.registry.reload()
    assert folder.call("one").value == 2
    assert folder.registry.report.errors == ()


def test_procedures_find_one_another(folder: Folder) -> None:
    inner = {"action": "procedure", "procedure": "inner", "save_as": "x"}
    folder.save("outer", inner, returning("{{ x + 1 }}"))
    folder.save("inner", returning(1))
    folder.load()
    assert folder.call("outer").value == 2


def test_a_tool_in_a_folder_wins_over_a_procedure(write: Any, tmp_path: Path) -> None:
    write("echo")
    directory = tmp_path / "procedures"
    directory.mkdir()
    registry = ToolRegistry.from_directory(tmp_path / "tools")
    (directory / "echo.json").write_text(json.dumps(procedure(returning(1), name="echo")))
    registry.load_procedures(directory)
    assert [each.code for each in registry.report.diagnostics] == ["ST801"]
    assert Tooler(registry).call_sync("echo", {"text": "a"}).value == "a"
