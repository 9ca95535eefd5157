from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypedDict

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sovl_tools import Tooler, ToolRegistry
from sovl_tools.scaffolding.files import create_folders
from sovl_tools.scaffolding.new_tool import (
    PYTHON,
    NewParameter,
    NewTool,
    parameter,
    tool_of_function,
    tool_of_parameters,
)
from sovl_tools.scaffolding.sync import plan_sync
from tests.schema.strategies import moderate
from tests.tables import check_each

DEFAULTS = {"string": 'a"\\', "integer": 2, "number": 1.5, "boolean": True, "array": [1]}
EVERY = [
    *(NewParameter(f"{kind}_needed", kind) for kind in PYTHON),
    *(NewParameter(f"{kind}_spare", kind, is_required=False) for kind in PYTHON),
    *(
        NewParameter(f"{kind}_given", kind, is_required=False, default=value)
        for kind, value in DEFAULTS.items()
    ),
    NewParameter("object_given", "object", is_required=False, default={"a": 1}),
    *map(
        parameter,
        (
            "day_needed:date", "day_spare:date?", "day_given:date=2026-01-31",
            "moment_given:datetime=2026-01-31T12:00:00+00:00", "time_needed:time",
            "unit_needed:enum(km,mi)", "unit_spare:enum(km,mi)?", "unit_given:enum(km,mi)=km",
            "level_given:enum(1,2)=2", "days_needed:array(date)", "days_spare:array(date)?",
            'units_given:array(enum(date,"time"))=["date"]',
        ),
    ),
]  # fmt: skip
NEEDED = {
    "string_needed": "a",
    "integer_needed": 1,
    "number_needed": 1.5,
    "boolean_needed": False,
    "array_needed": [1],
    "object_needed": {"a": 1},
    "day_needed": "2026-02-01",
    "time_needed": "12:30:00",
    "unit_needed": "mi",
    "days_needed": ["2026-02-02"],
}


def put(folder: NewTool, root: Path) -> ToolRegistry:
    create_folders(f"{root}/tools", {folder.name: folder.files})
    return ToolRegistry.from_directory(root / "tools")


@pytest.mark.parametrize("is_async", [False, True])
def test_a_new_tool_is_sound_and_returns_its_arguments(*, is_async: bool, tmp_path: Path) -> None:
    registry = put(tool_of_parameters("fresh", EVERY, is_async=is_async), tmp_path)
    assert {each.code for each in registry.report.diagnostics} <= {"ST221"}
    assert inspect.iscoroutinefunction(registry["fresh"].function) is is_async
    value = Tooler(registry).call_sync("fresh", NEEDED).value
    assert value == {
        **NEEDED,
        **{each.name: each.default for each in EVERY if not each.is_required},
    }


def folders(root: Path) -> Any:
    from sovl_tools.loading.sources import collect

    return collect([root / "tools"]).folders


@moderate
@given(
    st.text(
        st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=20
    )
)
@example('say "hi"')
@example('a"""')
@example("first\n\n  second \\\\")
def test_any_description_becomes_the_docstring(text: str) -> None:
    source = tool_of_parameters("fresh", [], description=text).source
    function = ast.parse(source).body[0]
    assert isinstance(function, ast.FunctionDef)
    found = ast.get_docstring(function, clean=False) or ""
    assert "".join(found.split()) == "".join(text.split())


class Options(TypedDict, total=False):
    lower: bool
    names: list[str]


def loose(text, options: Options, more: list = (), number: int = 3, **rest):  # type: ignore[no-untyped-def,type-arg,assignment] # noqa: ANN001,ANN003,ANN201
    """Do it."""
    return {"text": text, **rest}


def undocumented(a: int, _own: int = 1) -> int:
    return a


async def slow(a: int) -> int:
    """Wait."""
    return a


def made_for(function: Callable[..., Any], name: str = "fresh") -> NewTool:
    return tool_of_function(name, function, module=__name__, attribute=function.__name__)


@pytest.mark.parametrize("function", [loose, undocumented, slow])
@pytest.mark.parametrize("name", ["fresh", None])
def test_the_tool_of_a_function_is_sound(
    function: Callable[..., Any], name: str | None, tmp_path: Path
) -> None:
    name = name or function.__name__
    registry = put(made_for(function, name), tmp_path)
    assert {each.code for each in registry.report.diagnostics} <= {"ST221"}
    assert registry[name].function is function
    assert [plan_sync(each).is_changed for each in folders(tmp_path)] == [False]


@check_each(
    ("text", "expected"),
    [
        ("city:string", NewParameter("city", "string")),
        ("tag:string?", NewParameter("tag", "string", is_required=False)),
        ("days:integer=3", NewParameter("days", "integer", is_required=False, default=3)),
        ("on:bool=True", NewParameter("on", "boolean", is_required=False, default=True)),
        ("on:boolean=false", NewParameter("on", "boolean", is_required=False, default=False)),
        (
            "unit:enum(celsius,fahrenheit)=celsius",
            NewParameter(
                "unit",
                "string",
                is_required=False,
                default="celsius",
                said={"enum": ["celsius", "fahrenheit"]},
                annotation='Literal["celsius", "fahrenheit"]',
            ),
        ),
        (
            'days:list(array(date))=[["2026-01-31"]]',
            NewParameter(
                "days",
                "array",
                is_required=False,
                default=[["2026-01-31"]],
                said={"items": {"type": "array", "items": {"type": "string", "format": "date"}}},
                annotation="list[list[date]]",
            ),
        ),
    ],
)
def test_a_parameter_is_read(text: str, expected: NewParameter) -> None:
    assert parameter(text) == expected


@check_each(
    ("text", "message"),
    [
        ("city", "'city' is not NAME:TYPE; write for example city:string"),
        ("my-city:string", "'my-city' can't name a parameter: it is not an ASCII identifier"),
        ("from:string", "'from' can't name a parameter: it is a Python keyword"),
        ("a:strng", "'strng' isn't a type of a parameter; did you mean 'string'?"),
        (
            "a:uuid",
            "object, date, datetime, time, enum(A,B) and array(TYPE)",
        ),
        ("a:enum", "'enum' isn't a type of a parameter; the types are string,"),
        ("a:enum(a,)", "a value is missing in enum(a,)"),
        ("a:enum(a, a)", "enum(a, a) repeats a value"),
        ("a:enum(km,mi)=m", 'the default \'m\' must be one of "km", "mi", not "m"'),
        ("a:date=2026-13-01", "the default '2026-13-01' isn't a valid date"),
        ("a:integer=x", "the default 'x' is not JSON, as 'integer' must be"),
        ("a:number=NaN", "the default 'NaN' is not JSON"),
        ("a:integer=2.5", "the default '2.5' must be an integer, not the number 2.5"),
        ("a:integer=null", "the default is null; write NAME:TYPE?"),
    ],
)
def test_anything_else_is_refused_with_what_would_be_right(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        parameter(text)
