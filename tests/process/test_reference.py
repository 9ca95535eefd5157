"""What names a tool in another process."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest

from sovl_tools import ToolDefinition, ToolRegistry, definition_of
from sovl_tools.authoring.decorator import definitions_in
from sovl_tools.dispatch.reference import CodeReference, FolderReference, reference_of
from sovl_tools.model.errors import UnavailableError
from tests.conftest import Write, manifest_of
from tests.dispatch.toolbox import TEXT
from tests.process import tools_in_code
from tests.tables import check_each


def bound() -> ToolDefinition:
    found = definitions_in(tools_in_code.Speaker())
    assert isinstance(found, list)
    return found[0]


def of_a_session() -> ToolDefinition:
    return ToolDefinition("typed", "Say it.", TEXT, typed)


def typed(text: str) -> str:
    return text


@check_each(
    ("definition", "words"),
    [
        (tools_in_code.within(), "local stands within a function"),
        (ToolDefinition("nameless", "", TEXT, lambda text: text), "stands within a function"),
        (bound(), "Speaker.speak is bound to an object"),
        (ToolDefinition("len", "", TEXT, tools_in_code.Speaker), "nothing"),
        (ToolDefinition("partial", "", TEXT, type("Odd", (), {"__call__": len})()), "no name"),
        (tools_in_code.OTHERWISE, "bare has another definition in the module"),
    ],
    ids=["local", "lambda", "bound", "class", "object", "otherwise"],
)
def test_what_no_other_process_finds_is_refused_with_the_reason(
    definition: ToolDefinition, words: str
) -> None:
    if words == "nothing":  # a class is found by its name like a function
        assert isinstance(reference_of(definition)[0], CodeReference)
        return
    with pytest.raises(UnavailableError, match=words):
        reference_of(definition)


def test_a_function_that_was_replaced_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    definition = definition_of(tools_in_code.whereabouts)
    monkeypatch.setattr(tools_in_code, "whereabouts", None)
    with pytest.raises(UnavailableError, match="is another object"):
        reference_of(definition)


def test_a_function_of_a_session_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    session = ModuleType("__main__")
    vars(session)["typed"] = typed
    monkeypatch.setattr(typed, "__module__", "__main__")
    monkeypatch.setitem(sys.modules, "__main__", session)
    with pytest.raises(UnavailableError, match="typed was not defined in a file"):
        reference_of(of_a_session())


def test_each_version_of_a_folder_has_a_digest_of_its_own(write: Write) -> None:
    place = write("echo")
    registry = ToolRegistry.from_directory(place.parent)
    first, drafts = reference_of(registry["echo"])
    assert isinstance(first, FolderReference)
    assert [name for name, _ in drafts] == ["echo.json", "echo.py"]

    write("echo", {**manifest_of("echo"), "description": "Say something else."})
    registry.reload()
    second, _ = reference_of(registry["echo"])

    write("echo", code="def echo(text: str) -> str:\n    return text * 2\n")
    registry.reload()
    third, _ = reference_of(registry["echo"])
    assert isinstance(second, FolderReference)
    assert isinstance(third, FolderReference)
    assert len({first.digest, second.digest, third.digest}) == 3
