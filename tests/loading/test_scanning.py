"""Which tools a module holds."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

from sovl_tools import AITool, tool
from sovl_tools.loading.definitions import candidate_of, candidates_of, identity, members
from sovl_tools.model.catalog import Candidate
from tests.tables import check_each


def module(name: str = "things", **members: Any) -> ModuleType:
    made = ModuleType(name)
    vars(made).update(members)
    return made


def tools_in(place: ModuleType) -> list[Candidate]:
    every = candidates_of(members(place), "things.py")
    return [each for each in every if isinstance(each, Candidate)]


def found(**members: Any) -> dict[str, Candidate]:
    return {each.name: each for each in tools_in(module(**members))}


def only(value: Any) -> Candidate:
    candidate = candidate_of(value)
    assert candidate is not None
    return candidate


@tool
def forecast(city: str) -> str:
    """Tell the weather."""
    return city


def plain(city: str) -> str:
    """Tell the weather."""
    return city


class Base(AITool):
    description = "Greet."
    parameters_schema = {"type": "object", "properties": {}}  # noqa: RUF012 - nobody changes it

    def execute(self) -> str:
        return f"hello from {self.name}"


class Greeter(Base):
    name = "greet"
    made = 0

    def __init__(self) -> None:
        type(self).made += 1


class Named(Base):
    name = ""

    def __init__(self, name: str) -> None:
        self.name = name


def local(base: type = Base, /, **members: Any) -> Any:
    """Return a subclass that stands in the module ``things``."""
    return type("Local", (base,), {"__module__": "things", **members})


class _Hidden(Greeter): ...


def test_bases_are_left_in_peace() -> None:
    names = found(
        AITool=AITool,
        Base=Base,
        _Hidden=_Hidden,
        hidden=_Hidden,
    )
    assert names == {}


def test_a_class_that_is_not_finished_is_told_where_it_is_written() -> None:
    (candidate,) = found(Half=local()).values()
    (diagnostic,) = candidate.diagnostics
    assert (candidate.status, candidate.name) == ("rejected", "Local")
    assert (diagnostic.code, diagnostic.message) == ("ST702", "Local lacks name")
    assert diagnostic.help == "define them, or begin the name of a mere base class with '_'"


class OpaqueError(Exception):
    def __str__(self) -> str:
        raise ValueError


def raising(error: BaseException) -> Callable[..., Any]:
    def method(*arguments: Any) -> Any:
        raise error

    return method


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (RuntimeError("no network"), "RuntimeError: no network"),
        (SystemExit(3), "SystemExit: 3"),
        (KeyError(), "KeyError"),
        (OpaqueError(), "OpaqueError: its message can't be read"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_class_that_fails_is_told(error: BaseException, words: str) -> None:
    cases: dict[str, dict[str, Any]] = {
        f"Local() failed: {words}": {"name": "local", "__init__": raising(error)},
        f"Local can't be described: {words}": {"name": property(raising(error))},
    }
    for message, parts in cases.items():
        candidate = only(local(**parts))
        (diagnostic,) = candidate.diagnostics
        assert (candidate.status, diagnostic.code) == ("rejected", "ST702")
        assert diagnostic.message == message


@pytest.mark.parametrize("member", ["__init__", "get_ai_prompt_instructions"])
def test_only_the_user_interrupts(member: str) -> None:
    with pytest.raises(KeyboardInterrupt):
        candidate_of(local(name="local", **{member: raising(KeyboardInterrupt())}))


@check_each("value", [5, None, "text", object(), sys, plain("Oslo")], ids=type)
def test_anything_else_is_no_candidate(value: Any) -> None:
    assert candidate_of(value) is None


def test_a_class_of_another_kind_is_not_made() -> None:
    kind = type("Other", (), {"__init__": raising(AssertionError())})
    assert candidate_of(kind) is None


def test_what_others_have_attached_is_told() -> None:
    def foreign(city: str) -> str:
        return city

    for attached in ({"name": "x"}, "a text", 5):
        vars(foreign)["_tool_definition"] = attached
        (candidate,) = found(foreign=foreign).values()
        (diagnostic,) = candidate.diagnostics
        kind = type(attached).__name__
        assert diagnostic.message == f"its _tool_definition is a {kind}, not a ToolDefinition"
        assert (diagnostic.code, candidate.name) == ("ST707", "foreign")
        assert diagnostic.help == "decorate it with sovl_tools.tool"


def test_a_function_that_can_not_be_expressed_is_told_at_its_parameter() -> None:
    def socket(server: memoryview) -> None: ...

    candidate = only(socket)
    (diagnostic,) = candidate.diagnostics
    assert diagnostic.code == "ST703"
    assert diagnostic.message.startswith("'server': annotated memoryview, but there is no JSON")
    assert diagnostic.column == 16


@pytest.mark.parametrize("value", [forecast, plain, Greeter], ids=["tool", "plain", "class"])
def test_the_location_names_the_object(value: Any) -> None:
    assert identity(value) == only(value).location == f"{__name__}.{value.__qualname__}"


def test_the_location_of_an_instance_names_the_tool_as_well() -> None:
    assert only(Named("one")).location == f"{__name__}.Named:one"
    assert identity(Named("one")) == f"{__name__}.Named"
