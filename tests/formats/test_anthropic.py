"""Anthropic's format."""

from __future__ import annotations

from typing import Any

from sovl_tools.formats.base import Options, format_of
from tests.formats.tools import TEXT, arguments, collected, shaped, tool
from tests.tables import check_each

STRICT: dict[str, Any] = {"strict": True}


def limited(*tools: Any) -> list[Any]:
    """Return what is made of tools of which so many are strict as a request can have."""
    shapes = [shaped("anthropic", each) for each in tools]
    apply_limits = format_of("anthropic").apply_limits
    assert apply_limits is not None
    return [*apply_limits(shapes, Options(strict=True))]


def test_a_definition_has_an_input_schema() -> None:
    shape = shaped("anthropic", tool(arguments("text", text=TEXT)))
    assert shape.definition == {
        "name": "echo",
        "description": "Say something.",
        "input_schema": arguments("text", text=TEXT),
    }
    assert (shape.losses, shape.undo, shape.is_strict) == ((), None, False)


def test_in_a_strict_one_optional_properties_stay_optional() -> None:
    number = {"type": "integer", "minimum": 1, "default": 3, "format": "uri"}
    shape = shaped("anthropic", tool(arguments("text", text=TEXT, number=number)), strict=True)
    assert shape.definition["strict"] is True
    assert shape.definition["input_schema"] == arguments(
        "text",
        text=TEXT,
        number={"type": "integer", "default": 3, "format": "uri", "description": "At least 1."},
    )
    assert (shape.undo, shape.is_strict) == (None, True)


EXAMPLES: tuple[Any, ...] = (
    {"input": {"text": "a"}, "output": 1},
    {"input": "prose"},
    {"input": {}},
)


def test_examples_with_arguments_go_with_it() -> None:
    shape = shaped("anthropic", tool(examples=EXAMPLES))
    assert shape.definition["input_examples"] == [{"text": "a"}, {}]
    shape.definition["input_examples"][0]["text"] = "changed"
    assert EXAMPLES[0]["input"] == {"text": "a"}
    assert "input_examples" not in shaped("anthropic", tool(examples=EXAMPLES[1:2])).definition


@check_each(
    ("options", "reason"),
    [
        (STRICT, "they don't match the schema that is sent"),
        ({"defer_loading": frozenset({"echo"})}, "a tool that is deferred can't have any"),
    ],
)
def test_examples_that_would_be_refused_are_left_out(options: dict[str, Any], reason: str) -> None:
    parameters = arguments(inner={"type": "object", "properties": {"a": TEXT}})
    unfit, fit = ([{"input": {"inner": inner}}] for inner in ({"b": 1}, {}))
    shape = shaped("anthropic", tool(parameters, examples=unfit), **options)
    assert "input_examples" not in shape.definition
    assert shape.losses[-1] == ("dropped", ("examples",), f"examples are omitted: {reason}", None)
    fitting = shaped("anthropic", tool(parameters, examples=fit), strict=True)
    assert fitting.definition["input_examples"] == [{"inner": {}}]


def optional(name: str, count: int) -> Any:
    return tool(arguments(**{f"p{number}": TEXT for number in range(count)}), name)


def unions(name: str, count: int) -> Any:
    either = {"type": ["string", "null"]}
    names = [f"p{number}" for number in range(count)]
    return tool(arguments(*names, **dict.fromkeys(names, either)), name)


def no_arguments(name: str) -> Any:
    return tool(arguments(), name)


@check_each(
    ("tools", "strict", "words"),
    [
        (
            [no_arguments(f"t{count}") for count in range(21)],
            [True] * 20 + [False],
            "20 strict tools",
        ),
        (
            [optional("a", 20), optional("b", 5), optional("c", 4)],
            [True, False, True],
            "24 optional parameters",
        ),
        ([unions("a", 16), unions("b", 1), no_arguments("c")], [True, False, True], "16 unions"),
    ],
)  # fmt: skip
def test_so_many_are_strict_as_a_request_may_have(
    tools: list[Any], strict: list[bool], words: str
) -> None:
    shapes = limited(*tools)
    definitions, losses = collected("anthropic", shapes, strict=True)
    assert ["strict" in each for each in definitions] == strict
    assert [each.is_strict for each in shapes] == strict
    assert [each["name"] for each in definitions] == [each.name for each in tools]
    message = f"not strict: the request would have more than {words}"
    assert shapes[strict.index(False)].losses == (("loose", ("parameters",), message, None),)
    assert losses == ()


def test_the_last_definition_that_can_be_cached_is_marked() -> None:
    mark = {"type": "ephemeral"}
    options: dict[str, Any] = {"cache_control": mark, "defer_loading": frozenset({"c"})}
    shapes = [shaped("anthropic", no_arguments(name), **options) for name in "abc"]
    definitions, losses = collected("anthropic", shapes, **options)
    assert [each.get("cache_control") for each in definitions] == [None, mark, None]
    assert [each.get("defer_loading") for each in definitions] == [None, None, True]
    assert losses == ()
    assert "cache_control" not in shapes[1].definition
    assert collected("anthropic", [], **options)[0] == []
