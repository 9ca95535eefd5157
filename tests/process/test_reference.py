"""What names a tool in another process."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest

from sovl_tools import ToolDefinition
from sovl_tools.authoring.decorator import definitions_in
from sovl_tools.dispatch.reference import reference_of
from sovl_tools.model.errors import UnavailableError
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
        (tools_in_code.OTHERWISE, "bare has another definition in the module"),
    ],
    ids=["local", "lambda", "bound", "otherwise"],
)
def test_what_no_other_process_finds_is_refused_with_the_reason(
    definition: ToolDefinition, words: str
) -> None:
    with pytest.raises(UnavailableError, match=words):
        reference_of(definition)


def test_a_function_of_a_session_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    session = ModuleType("__main__")
    vars(session)["typed"] = typed
    monkeypatch.setattr(typed, "__module__", "__main__")
    monkeypatch.setitem(sys.modules, "__main__", session)
    with pytest.raises(UnavailableError, match="typed was not defined in a file"):
        reference_of(of_a_session())
