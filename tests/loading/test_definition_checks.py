"""From definitions to candidates, checked as manifests are."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from keyword import iskeyword
from pathlib import Path
from types import MappingProxyType
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from sovl_tools import (
    Diagnostic,
    ToolDefinition,
    ToolLoadError,
    ToolRegistry,
    definition_of,
    tool,
)
from tests.schema.strategies import moderate
from tests.tables import check_each

NESTED: list[Any] = reduce(lambda inner, _: [inner], range(70), list[Any]())


def echo(text: str) -> str:
    """Say something."""
    return text


def line_of(head: str) -> int:
    """Return the number of the line of this file that begins with a string."""
    lines = Path(__file__).read_text(encoding="utf-8").splitlines()
    return next(number for number, line in enumerate(lines, 1) if line.strip().startswith(head))


def decorated(**marks: Any) -> ToolDefinition:
    function: Callable[..., Any] = lambda text: text  # noqa: E731 - a new one each time
    function.__name__ = "echo"
    marks.setdefault("description", "Say something.")
    text = {"type": "string", "description": "What to say."}
    return definition_of(tool(**{"params": {"text": text}, **marks})(function))


def told(tool: Any) -> tuple[Diagnostic, ...]:
    """Return what is said of something that is registered, rejected or not."""
    registry = ToolRegistry()
    try:
        registry.register(tool)
    except ToolLoadError as error:
        assert not registry.catalog.candidates
        return error.diagnostics
    assert registry.report.folders[0].status == "loaded"
    return tuple(registry.report.diagnostics)


def messages(tool: Any) -> list[str]:
    return [each.message for each in told(tool)]


def test_any_mapping_will_do() -> None:
    handlers = MappingProxyType({"say": print, "cry": print})
    parameters = {"type": "object", "properties": {"text": {}}, "required": ["text"]}
    registry = ToolRegistry()
    metadata = MappingProxyType({"team": MappingProxyType({"size": 3})})
    registry.register(
        ToolDefinition("echo", "Say.", parameters, echo, step_handlers=handlers, metadata=metadata)
    )
    assert registry.report.folders[0].actions == ("say", "cry")
    assert registry.filter(team={"size": 3}) == [registry["echo"]]


@check_each(
    ("marks", "words"),
    [
        ({"name": "two words"}, ["'two words' can't name a tool: it is not an ASCII identifier"]),
        ({"name": "class"}, ["'class' can't name a tool: it is a Python keyword"]),
        (
            {"name": "a" * 65},
            [f"'{'a' * 65}' can't name a tool: it has 65 characters, more than 64"],
        ),
        ({"name": 5}, ["5 can't name a tool: it is not an ASCII identifier"]),
        ({"description": "  "}, ["'description' must not be blank"]),
        ({"tags": "io"}, ["'tags' must be an array, not the string \"io\""]),
        ({"tags": ["io", 5]}, ["'tags[1]' must be a string, not the integer 5"]),
        ({"execution": {"timeout": 0}}, ["'execution.timeout' must be more than 0, not 0"]),
        (
            {"params": {"text": {"type": "text"}}, "title": 1},
            [
                "'parameters.properties.text.type': 'text' is not a JSON Schema type",
                "'title' must be a string, not the integer 1",
            ],
        ),
        (
            {"params": {"text": 5}},
            ["'parameters.properties.text' must be a boolean or an object, not the integer 5"],
        ),
        ({"metadata": {"at": {1}}}, ["the definition isn't JSON: {1} is of type set"]),
        ({"metadata": {"at": float("nan")}}, ["the definition isn't JSON: Out of range float"]),
        (
            {"metadata": {"half": ["\ud800"]}},
            ["the definition isn't JSON: a string in it contains half of a surrogate pair"],
        ),
        ({"metadata": {"deep": NESTED}}, ["the definition is nested more than 64 levels deep"]),
    ],
    ids=str,
)
def test_a_definition_is_told_what_a_manifest_would_be_told(
    marks: dict[str, Any], words: list[str]
) -> None:
    found = told(decorated(**marks))
    assert len(found) == len(words)
    for message, expected in zip(sorted(each.message for each in found), words, strict=True):
        assert message.startswith(expected)
    assert {each.code for each in found} == {"ST704"}


@check_each(
    ("marks", "expected"),
    [
        (
            {"params": {"text": {"type": "string", "pattern": "(", "description": "What."}}},
            ("ST303", "'(' is not a regular expression: missing ), unterminated subpattern"),
        ),
        (
            {"output_schema": {"$ref": "#/$defs/Other"}},
            ("ST304", "the reference '#/$defs/Other' leads nowhere"),
        ),
    ],
    ids=str,
)
def test_an_error_of_a_schema_is_the_one_of_a_manifest(
    marks: dict[str, Any], expected: tuple[str, str]
) -> None:
    [found] = told(decorated(**marks))
    assert (found.code, found.severity, found.line > 1) == (expected[0], "error", True)
    assert found.message.startswith(expected[1])


@moderate
@given(st.text(max_size=70) | st.from_regex(r"[A-Za-z_]\w{0,66}", fullmatch=True))
def test_whatever_can_name_a_tool_is_an_ascii_identifier(name: str) -> None:
    is_name = name.isascii() and name.isidentifier() and not iskeyword(name) and len(name) <= 64
    assert bool(told(decorated(name=name or None))) == bool(name and not is_name)


def test_what_is_weak_is_a_warning_at_the_parameter_that_it_is_about() -> None:
    @tool
    def vague(text, *, loud: bool = True):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
        return text

    line = line_of("def vague")
    assert [(each.code, each.severity, each.line, each.column) for each in told(vague)] == [
        ("ST705", "warning", line, 9),
        ("ST306", "warning", line, 15),
        ("ST705", "warning", line, 15),
        ("ST306", "warning", line, 24),
    ]
    assert messages(vague) == [
        "'vague' has neither a docstring nor a description",
        "'text' has no description",
        "'text': it has no annotation, so that any type is admitted",
        "'loud' has no description",
    ]


def test_dynamic_parts_are_neither_called_nor_in_the_way() -> None:
    def fails() -> None:
        raise AssertionError

    text = {"type": "string", "description": "What to say.", "enum": fails, "default": fails}
    definition = decorated(params={"text": text})
    assert told(definition) == ()
    assert told(decorated(params={"text": fails})) == ()
    broken = decorated(params={"text": {"enum": fails, "type": "str"}})
    assert [each.code for each in told(broken)] == ["ST704"]


def test_a_function_that_does_not_take_what_its_schema_says_is_told_at_its_place() -> None:
    parameters = {"type": "object", "properties": {"txt": {"type": "string"}}, "required": ["txt"]}
    found = told(ToolDefinition("echo", "Say.", parameters, echo))
    line = line_of("def echo")
    assert [(each.code, each.line, each.column) for each in found] == [
        ("ST402", line, 5),
        ("ST403", line, 10),
    ]
    assert [each.message for each in found] == [
        "the function does not take 'txt', which the schema lists",
        "the parameter 'text' is not in the schema and has no default",
    ]
    assert {each.help for each in found} == {
        "did you mean 'txt'?",
        "did you mean 'text'?",
    }
