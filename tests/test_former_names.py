"""Names of other systems raise errors that give the names here."""

from __future__ import annotations

from typing import Any

import pytest

import sovl_tools
from sovl_tools import Agent, ToolDefinition, ToolRegistry
from sovl_tools.model.former_names import NAMES, Former
from tests.tables import check_each


def echo(text: str) -> str:
    """Return a string."""
    return text


def objects() -> dict[str, Any]:
    registry = ToolRegistry()
    definition = registry.register(echo)
    return {
        "ToolDefinition": definition,
        "ToolRegistry": registry,
        "Agent": Agent(provider="local"),
        "sovl_tools": sovl_tools,
    }


@check_each("former", [each for each in NAMES if not each.is_argument])
def test_an_attribute_of_another_name_is_told(former: Former) -> None:
    owner = objects()[former.owner]
    for name in former.names:
        assert not hasattr(owner, name)
        with pytest.raises(AttributeError) as raised:
            getattr(owner, name)
        assert str(raised.value).endswith(f"it is {former.here} here")
    if former.owner != "Agent":
        assert hasattr(owner, former.here.partition("(")[0])


def test_an_argument_of_another_name_is_told() -> None:
    with pytest.raises(TypeError, match="takes no 'func'; it is 'function' here"):
        ToolDefinition(name="a", description="A.", parameters={}, func=echo)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="takes no 'allow_override'; it is 'override' here"):
        ToolRegistry().register(echo, allow_override=True)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="takes no 'socket_emit'; it is 'emit' here"):
        Agent(provider="local", socket_emit=print)  # type: ignore[call-arg]


def test_another_missing_attribute_is_told_as_always() -> None:
    for owner in objects().values():
        with pytest.raises(AttributeError, match=r"has no attribute 'surely_not'$"):
            _ = owner.surely_not
