from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from types import MappingProxyType
from typing import (
    Any,
    NamedTuple,
    Optional,
)

from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from sovl_tools import Failure
from sovl_tools.dispatch.arguments import ArgumentCheck
from tests.dispatch.toolbox import properties, tool
from tests.schema.strategies import moderate, texts
from tests.tables import check_each

ANYTHING = properties(value={})
INTEGER = {"type": "integer"}
MAX_DEPTH = 64


class Text(str):
    """A string of someone's own type."""

    __slots__ = ()


def closed() -> None:
    """Take no arguments that the manifest does not list."""


def wide(**arguments: Any) -> None:
    """Take any argument."""


def checked(
    given: Any, parameters: dict[str, Any], function: Callable[..., Any] = closed
) -> dict[str, Any]:
    """Return the keywords that the function gets."""
    keywords = ArgumentCheck(tool(function, parameters))(given)
    assert isinstance(keywords, dict), keywords
    return keywords


def refused(
    given: Any, parameters: dict[str, Any], function: Callable[..., Any] = closed
) -> Failure:
    """Return why the arguments were rejected."""
    failure = ArgumentCheck(tool(function, parameters))(given)
    assert isinstance(failure, Failure), failure
    assert failure.kind == "invalid_arguments"
    assert failure.details
    return failure


@check_each("given", [None, "", " \n", b"", {}, "{}", b"{}", " {\n} "])
def test_a_tool_without_arguments_needs_none(given: Any) -> None:
    assert checked(given, properties()) == {}


@check_each(
    "given",
    [
        {"value": [1, "ß", None]},
        '{"value": [1, "ß", null]}',
        b'{"value": [1, "\xc3\x9f", null]}',
        bytearray(b'{"value": [1, "\\u00df", null]}'),
        ' \n{ "value"  :\t[1 , "ß", null]\r\n}  ',
        Text('{"value": [1, "ß", null]}'),
        MappingProxyType({"value": (1, "ß", None)}),
    ],
    ids=repr,
)
def test_arguments_may_be_an_object_or_text_of_one(given: Any) -> None:
    assert checked(given, ANYTHING) == {"value": [1, "ß", None]}


@check_each(
    ("given", "reason"),
    [
        ("[]", "they must be a JSON object, not an array"),
        ("null", "they must be a JSON object, not null"),
        ("5", "they must be a JSON object, not the integer 5"),
        (5, "they must be a JSON object, not the integer 5"),
        ("{", "they aren't JSON: expecting property name"),
        ("{'a': 1}", "they aren't JSON: expecting property name"),
        ('{"a": 1} {}', "they aren't JSON: extra data at line 1 column 10"),
        ('{"a":\n tru}', "they aren't JSON: expecting value at line 2 column 2, near"),
        (b"\xff", "they are not UTF-8"),
        ({"value": {1, 2}}, "they aren't JSON: "),
        ({(1, 2): 3}, "they aren't JSON: keys must be"),
        ('{"value": NaN}', "they aren't JSON: NaN is not a JSON number"),
        ({"value": float("nan")}, "they aren't JSON: out of range"),
        ('{"value": 1e999}', "they aren't JSON: 1e999 is too large a number"),
        (f'{{"value": {"9" * 5000}}}', "they aren't JSON: a whole number has more than 4,300"),
        (f'{{"value": {"[" * MAX_DEPTH}{"]" * MAX_DEPTH}}}', "they are nested too deep"),
        (f'{{"value": {"[" * 100_000}', "they are nested too deep"),
    ],
    ids=lambda value: value[:40] if isinstance(value, str) else type(value).__name__,
)
def test_what_is_no_object_of_json_is_refused(given: Any, reason: str) -> None:
    failure = refused(given, ANYTHING)
    assert failure.message.lower().startswith(f"invalid arguments for closed: {reason.lower()}")
    assert [bad.path for bad in failure.details] == ["$"]


@check_each("schema", [{}, {"type": "string"}, {"pattern": "a|."}, {"enum": ["a"]}])
@check_each("given", [{"value": "\ud800"}, '{"value": "\\ud800"}'])
def test_half_a_surrogate_pair_is_refused(given: Any, schema: dict[str, Any]) -> None:
    assert refused(given, properties(value=schema))


@moderate
@given(st.text('{}[]":,\\ \n1ae.-tfN\ud800é', max_size=20))
def test_no_text_makes_the_check_raise(text: str) -> None:
    outcome = ArgumentCheck(tool(wide, ANYTHING))(text)
    try:
        document = json.loads(text) if text.strip() else {}
    except ValueError:
        document = None
    assert isinstance(outcome, dict) == isinstance(document, dict) or "\ud800" in repr(document)


def test_what_the_caller_gave_is_not_changed() -> None:
    inner = properties(color={"default": "red"}, size=INTEGER)
    given: dict[str, Any] = {"shape": {"size": 2.0}, "sizes": [1.0]}
    before = deepcopy(given)
    schema = properties(shape=inner, sizes={"items": INTEGER}, more={"default": 1})
    keywords = checked(given, schema)
    assert keywords == {"shape": {"size": 2, "color": "red"}, "sizes": [1], "more": 1}
    keywords["sizes"].append(2)
    assert given == before
    assert isinstance(given["shape"]["size"], float)


def test_a_default_is_filled_in_where_the_argument_is_left_out() -> None:
    schema = properties(a={"default": 1}, b={"default": None}, c={"default": "x"}, d={})
    assert checked({"c": "given"}, schema) == {"a": 1, "b": None, "c": "given"}


def test_defaults_of_nested_objects_are_filled_in() -> None:
    inner = properties(color={"default": "red"})
    schema = properties(a=inner, b={**inner, "default": {"size": 1}}, c=inner)
    filled = checked({"a": {}}, schema)
    assert filled == {"a": {"color": "red"}, "b": {"size": 1, "color": "red"}}


class Model(BaseModel):
    color: str = "blue"


@dataclass
class Paint:
    color: str = "blue"


class Pair(NamedTuple):
    color: str = "blue"


@check_each(
    "annotation",
    [
        Paint,
        Pair,
        "Model | None",
    ],
    ids=str,
)
def test_nothing_is_filled_in_within_what_becomes_an_instance(annotation: Any) -> None:
    schema = properties(color={"default": "red"})
    filled = checked({"a": {}}, properties(a=schema, b={"default": 1}), annotated(a=annotation))
    assert filled == {"a": {}, "b": 1}
    as_a_whole = {**schema, "default": {"size": 1}}
    assert checked({}, properties(a=as_a_whole), annotated(a=annotation)) == {"a": {"size": 1}}


def annotated(**annotations: Any) -> Callable[..., Any]:
    """Return a function with parameters of those annotations."""

    def function(a: Any = None, b: Any = None) -> None: ...

    del function.__annotations__["a"]
    shown = {
        name: each for name, each in annotations.items() if each is not inspect.Parameter.empty
    }
    function.__annotations__.update(shown)
    return function


def test_a_default_is_copied_for_each_call() -> None:
    schema = properties(tags={"type": "array", "items": {}, "default": []})
    check = ArgumentCheck(tool(closed, schema))
    first, second = check({}), check({})
    assert isinstance(first, dict)
    first["tags"].append("changed")
    assert second == check({}) == {"tags": []}
    assert schema["properties"]["tags"]["default"] == []


@check_each(
    "schema",
    [
        {"type": "integer", "default": "N/A"},
        {"$ref": "#/$defs/size", "default": "N/A"},
    ],
    ids=str,
)
def test_a_default_that_its_schema_refuses_is_not_filled_in(schema: dict[str, Any]) -> None:
    root = {"$defs": {"size": INTEGER}, **properties(size=schema)}
    assert checked({}, root) == {}


def optional(count: Optional[int], tags: list[str] | None, given: int | None = 7) -> None: ...  # noqa: UP045


OPTIONAL = properties(count=INTEGER, tags={"type": "array", "items": {}}, given=INTEGER)


@check_each(
    ("schema", "given", "keywords"),
    [
        (OPTIONAL, {}, {"count": None, "tags": None}),
        (OPTIONAL, {"count": None}, {"count": None, "tags": None}),
        (properties(count={"type": ["integer", "null"], "default": 5}), {}, {"count": 5}),
        (
            properties(count={"type": ["integer", "null"], "default": 5}),
            {"count": None},
            {"count": None},
        ),
        (
            properties(count={**INTEGER, "default": 5}, tags={"default": ["a"]}),
            {},
            {"count": 5, "tags": ["a"]},
        ),
        ({"type": "object"}, {}, {}),
    ],
)
def test_an_optional_argument_is_none_unless_the_manifest_has_a_default(
    schema: dict[str, Any], given: dict[str, Any], keywords: dict[str, Any]
) -> None:
    assert checked(given, schema, optional) == keywords


NEAR = ("$.colour", "is not a parameter; did you mean 'color'?")
COLOR = properties(color={})
SEALED = {**COLOR, "additionalProperties": False}


@check_each(
    "schema",
    [
        COLOR,
        SEALED,
    ],
    ids=str,
)
def test_an_unknown_argument_is_refused(schema: dict[str, Any]) -> None:
    assert refused({"colour": 1}, schema).details == (NEAR,)


@check_each("extra", [{}, {"additionalProperties": True}, {"allOf": [{}]}], ids=str)
def test_a_function_that_takes_any_keyword_gets_it(extra: dict[str, Any]) -> None:
    assert checked({"colour": 1}, {**COLOR, **extra}, wide) == {"colour": 1}


def test_every_bad_argument_is_listed_with_its_path() -> None:
    lines = {"type": "array", "items": properties(width={"type": "number", "minimum": 0})}
    schema = {
        **properties(**{"count": INTEGER, "lines": lines, "odd name": {"enum": ["a"]}, "need": {}}),
        "required": ["need"],
    }
    given = {"count": "5", "lines": [{"width": 1}, {"width": -1}], "odd name": "b", "coutn": 1}
    failure = refused(given, schema)
    assert set(failure.details) == {
        ("$.count", 'must be an integer, not the string "5"'),
        ("$.coutn", "is not a parameter"),
        ("$.lines[1].width", "must be at least 0, not -1"),
        ("$.need", "is required"),
        ("$['odd name']", 'must be one of "a", not "b"'),
    }
    head, *lines_said = failure.message.split("\n")
    assert head == "invalid arguments for closed:"
    assert len(lines_said) == len(failure.details)
    assert "- lines[1].width: must be at least 0, not -1" in lines_said


VALUES: dict[str, tuple[Mapping[str, Any], st.SearchStrategy[Any]]] = {
    "text": ({"type": "string"}, texts),
    "count": ({"type": "integer"}, st.integers(-9, 9)),
    "ratio": ({"type": "number"}, st.integers(-9, 9) | st.floats(-9, 9)),
    "loud": ({"type": "boolean"}, st.booleans()),
    "tags": ({"type": "array", "items": {"type": "string"}}, st.lists(texts, max_size=2)),
    "any": ({}, st.none() | st.booleans() | texts),
}


@st.composite
def calls(draw: st.DrawFn, level: int = 0) -> tuple[dict[str, Any], Any, Any]:
    """Return parameters, arguments that match them, and the keywords that come of them."""
    schemas: dict[str, Any] = {}
    given: dict[str, Any] = {}
    wanted: dict[str, Any] = {}
    for name in draw(st.lists(st.sampled_from([*VALUES, "inner"]), max_size=4, unique=True)):
        if name == "inner":
            if level > 1:
                continue
            schemas[name], value, filled = draw(calls(level + 1))
        else:
            schema, strategy = VALUES[name]
            value = filled = draw(strategy)
            default = draw(st.just({}) | strategy.map(lambda value: {"default": value}))
            schemas[name] = {**schema, **default}
        if draw(st.booleans()):
            given[name], wanted[name] = value, filled
        elif "default" in schemas[name]:
            wanted[name] = schemas[name]["default"]
    return properties(**schemas), given, wanted


@moderate
@given(calls(), st.sampled_from([dict, json.dumps, lambda each: json.dumps(each).encode()]))
def test_what_comes_out_is_what_went_in_and_the_defaults(
    call: tuple[dict[str, Any], Any, Any], form: Callable[[Any], Any]
) -> None:
    parameters, given, wanted = call
    keywords = checked(form(given), parameters)
    assert keywords == wanted
    assert json.dumps(keywords, sort_keys=True) == json.dumps(wanted, sort_keys=True)


@check_each(
    "schema",
    [{"type": "object"}, properties(), {**properties(), "additionalProperties": False}],
)
@check_each("given", ["null", " null\n", b"null", "", None, "{}"])
def test_a_tool_without_parameters_takes_null(given: Any, schema: Any) -> None:
    assert checked(given, schema, lambda: None) == {}
