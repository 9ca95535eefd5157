"""Live views of a registry, for agents."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sovl_tools import Agent, ToolContext, ToolNotFoundError, ToolRegistry, tool
from sovl_tools.testing import calls, says
from tests.agent.conversations import Way, talk
from tests.conftest import Write, manifest_of
from tests.tables import check_each
from tests.test_views import SECRET, desk, made


def test_an_agent_follows_the_edits_of_its_view(write: Write, tmp_path: Path) -> None:
    write("ant", manifest_of("ant", tags=["read"], activation_phrases=["ask the ant"]))
    write("bee", manifest_of("bee", tags=["write"], activation_phrases=["ask the bee"]))
    registry = ToolRegistry.from_directory(tmp_path / "tools")
    agent = Agent(provider="local", tools=registry.select(tags="read"))
    assert [each["name"] for each in agent.definitions()] == ["ant"]
    assert [each.name for each in agent.chat_sync('ask the ant text="hi"').calls] == ["ant"]
    assert agent.chat_sync('ask the bee text="hi"').calls == ()
    with pytest.raises(ToolNotFoundError):
        agent.chat_sync("hi", tools=["bee"])
    write("bee", manifest_of("bee", tags=["read"], activation_phrases=["ask the bee"]))
    registry.reload()
    assert [each.name for each in agent.chat_sync('ask the bee text="hi"').calls] == ["bee"]


class Clerk(Agent):
    """An agent with its own method, which calls a tool."""

    @tool
    def own(self, context: ToolContext) -> Any:
        """Do it itself."""
        return context.tooler.call_sync(SECRET).value


@check_each("kind", [Agent, Clerk])
def test_a_model_calls_the_tools_of_the_view(kind: type[Agent]) -> None:
    name = "own" if kind is Clerk else "look"
    script = [calls((SECRET, {}), (name, {}), ("search_tools", {"query": "wipe"})), says("Done.")]
    registry = desk()
    with talk(Way("openai"), script, kind=kind, tools=registry.select(tags="read")) as to:
        assert SECRET not in str(to.agent.definitions())
        to.say("Wipe it")
        refused, called, found = to.results()
        assert "there's no tool" in str(refused)
        assert SECRET in str(called)
        assert SECRET not in str(found)
        registry.register(made("peek", "read"))
        assert "peek" in str(to.agent.definitions())
        assert "peek" in to.agent.tools
