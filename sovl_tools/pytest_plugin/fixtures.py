"""Fixtures for tests of tools and of agents that call them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import TypeAlias

import pytest

from sovl_tools.configured import folders_of
from sovl_tools.dispatch.tooler import Tooler
from sovl_tools.pytest_plugin.examples import FOUND
from sovl_tools.registry import ToolRegistry
from sovl_tools.testing.server import ScriptedServer

MakeServer: TypeAlias = Callable[..., ScriptedServer]

_HAS_FAILED = pytest.StashKey[bool]()


@pytest.fixture(scope="session")
def sovl_registry(pytestconfig: pytest.Config) -> ToolRegistry:
    """The registry of the tools in the directories that pytest was told of."""
    return folders_of(pytestconfig.stash[FOUND])


@pytest.fixture(scope="session")
def sovl_tooler(sovl_registry: ToolRegistry) -> Tooler:
    """A Tooler that calls them: ``sovl_tooler.call_sync("weather", {"city": "Oslo"})``."""
    return Tooler(sovl_registry)


@pytest.fixture
def sovl_server(request: pytest.FixtureRequest) -> Iterator[MakeServer]:
    """A function that starts a scripted provider: ``sovl_server([says("Hello.")])``.

    It takes what ``sovl_tools.testing.ScriptedServer`` takes. The servers end with the test, which
    fails if they have replies left that nobody asked for.
    """
    servers = ExitStack()
    yield lambda *script, **options: servers.enter_context(ScriptedServer(*script, **options))
    # as in a block that has raised: a test that has failed need not say that it did not end
    if request.node.stash.get(_HAS_FAILED, False):
        error = AssertionError("the test has failed")
        servers.__exit__(AssertionError, error, None)
    servers.close()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    """Remember that a test has failed, for its fixtures."""
    report = yield
    if call.when == "call":
        item.stash[_HAS_FAILED] = call.excinfo is not None
    return report
