"""Which tools a module holds."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

from sovl_tools import AITool, definition_of, tool
from sovl_tools.loading.definitions import candidate_of, candidates_of, identity, members
from sovl_tools.model.catalog import Candidate
from tests.dispatch.toolbox import tooler
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


def test_a_module_holds_decorated_functions_classes_and_instances() -> None:
    names = found(
        forecast=forecast, Greeter=Greeter, one=Named("one"), plain=plain, number=5, tool=tool
    )
    assert list(names) == ["forecast", "greet", "one"]
    assert {each.status for each in names.values()} == {"loaded"}


def test_an_object_with_several_names_counts_once() -> None:
    greeter = Named("greet")
    assert len(tools_in(module(a=forecast, b=forecast, c=greeter, d=greeter))) == 2


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


def test_an_instance_stands_for_its_class() -> None:
    one, other = Named("one"), Named("other")
    assert list(found(Named=Named, one=one, other=other)) == ["one", "other"]
    (rejected,) = found(Named=Named).values()
    assert (rejected.name, rejected.status) == ("Named", "rejected")


def test_a_class_has_one_instance_however_often_it_is_looked_at() -> None:
    kind = local(Greeter, made=0)
    candidates = [only(kind) for _ in range(3)]
    assert kind.made == 1
    assert len({id(each.definition.instance) for each in candidates if each.definition}) == 1
    heir = local(kind)
    definition = only(heir).definition
    assert definition is not None
    assert type(definition.instance) is heir


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


def test_a_plain_function_is_taken_if_somebody_names_it() -> None:
    definition = only(plain).definition
    assert definition is not None
    assert (definition.name, definition.function) == ("plain", plain)


def test_a_decorated_function_brings_its_definition() -> None:
    assert only(forecast).definition is definition_of(forecast)


def test_a_function_that_wraps_a_tool_is_called_in_its_place() -> None:
    def loud(city: str) -> str:
        return forecast(city).upper()

    loud.__dict__.update(vars(forecast))
    definition = only(loud).definition
    assert definition is not None
    assert tooler(definition).call_sync("forecast", {"city": "Oslo"}).value == "OSLO"


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


def test_what_waits_for_a_name_is_told_also_if_it_is_wrapped() -> None:
    @tool
    def waits(day: Day) -> str:  # type: ignore[name-defined]  # noqa: F821 - it is not there
        """Wait."""
        return str(day)

    def wrapper(day: str) -> str:
        return waits(day)

    wrapper.__dict__.update(vars(waits))
    for function in (waits, wrapper):
        candidate = only(function)
        assert [each.code for each in candidate.diagnostics] == ["ST703"]
        assert candidate.name == "waits"


@pytest.mark.parametrize("value", [forecast, plain, Greeter], ids=["tool", "plain", "class"])
def test_the_location_names_the_object(value: Any) -> None:
    assert identity(value) == only(value).location == f"{__name__}.{value.__qualname__}"


def test_the_location_of_an_instance_names_the_tool_as_well() -> None:
    assert only(Named("one")).location == f"{__name__}.Named:one"
    assert identity(Named("one")) == f"{__name__}.Named"
