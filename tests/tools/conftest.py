"""The shipped tools, loaded once and called the way a model's call is."""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, cast

import pytest

import sovl_tools
from tests.patience import PATIENCE

REPOSITORY = Path(__file__).parents[2]

Call = Callable[..., sovl_tools.ToolResult]
Refuse = Callable[..., str]
Module = Callable[..., ModuleType]


@pytest.fixture(scope="session")
def registry() -> sovl_tools.ToolRegistry:
    registry = sovl_tools.ToolRegistry.from_directory(REPOSITORY / "tools")
    registry.report.raise_if_errors()
    # a busy machine may take long to start a process
    queries = sys.modules[registry["query_sqlite"].function.__module__]
    vars(queries)["_SECONDS_TO_START"] = PATIENCE
    return registry


@pytest.fixture(scope="session")
def tooler(registry: sovl_tools.ToolRegistry) -> sovl_tools.Tooler:
    return sovl_tools.Tooler(registry)


@pytest.fixture(scope="session")
def call(tooler: sovl_tools.Tooler) -> Call:
    """Call a tool: ``call("calculate", expression="1 + 1").value``."""

    def call_tool(name: str, **arguments: Any) -> sovl_tools.ToolResult:
        # their own limits are for quiet machines
        return tooler.call_sync(name, arguments, timeout=2 * PATIENCE)

    return call_tool


@pytest.fixture(scope="session")
def value(call: Call) -> Callable[..., Any]:
    """Call a tool that must succeed, and return its value."""

    def value_of(name: str, **arguments: Any) -> Any:
        result = call(name, **arguments)
        assert result.error is None, result.error.message
        return result.value

    return value_of


@pytest.fixture(scope="session")
def refuse(call: Call) -> Refuse:
    """Call a tool that must reject with its own ValueError, and return the message."""

    def message_of(name: str, **arguments: Any) -> str:
        result = call(name, **arguments)
        assert result.error is not None, result.value
        assert result.error.kind == "tool_error"
        assert result.error.message.startswith("ValueError: ")
        return result.error.message.removeprefix("ValueError: ")

    return message_of


@pytest.fixture(scope="session")
def module(registry: sovl_tools.ToolRegistry) -> Module:
    """Return a tool's module, or one of its helpers, as it was loaded."""

    def loaded(tool: str, helper: str = "") -> ModuleType:
        function = registry[tool].function
        name = f"{function.__module__.rpartition('.')[0]}.{helper}"
        if helper:
            found = function.__globals__.get(helper)
            return found if isinstance(found, ModuleType) else sys.modules[name]
        # not that of sys.modules, which is the last load's, perhaps of another registry
        return cast("ModuleType", _Globals(function.__globals__))

    return loaded


class _Globals:
    """The names of a module, as attributes."""

    def __init__(self, names: dict[str, Any]) -> None:
        self.__dict__ = names


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty root directory for the tools that read files."""
    directory = Path(os.path.realpath(tmp_path)) / "root"
    directory.mkdir()
    monkeypatch.setenv("SOVL_TOOLS_ROOT", str(directory))
    return directory
