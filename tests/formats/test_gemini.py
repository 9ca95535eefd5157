"""Gemini's function declarations."""

from __future__ import annotations

from typing import Any

from sovl_tools.formats.providers import GEMINI
from tests.formats.tools import TEXT, arguments, collected, shaped, tool
from tests.tables import check_each


def of(*required: str, **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required)}


def test_a_tool_is_a_declaration() -> None:
    shape = shaped("gemini", tool(arguments("text", text={**TEXT, "enum": ["a", "b"]})))
    assert shape.definition == {
        "name": "echo",
        "description": "Say something.",
        "parametersJsonSchema": arguments("text", text={**TEXT, "enum": ["a", "b"]}),
    }
    assert (shape.losses, shape.undo, shape.is_strict) == ((), None, False)


def test_there_may_be_only_so_many_declarations() -> None:
    shapes = [shaped("gemini", tool())] * GEMINI.tools
    assert collected("gemini", shapes) == ([shapes[0].definition] * GEMINI.tools, ())
    losses = collected("gemini", [*shapes, shapes[0]])[1]
    assert losses == (
        (
            "limit",
            (),
            "513 tools, more than the 512 that Gemini takes in one request",
            "offer fewer tools at a time",
        ),
    )


NEXT = {"$ref": "#/$defs/node"}


@check_each(
    ("schema", "paths"),
    [
        (of(a=NEXT) | {"$defs": {"node": of(next=NEXT)}}, []),
        (of(a=NEXT) | {"$defs": {"node": of("next", next=NEXT)}}, [("$defs", "node")]),
        (
            of(a=NEXT) | {"$defs": {"node": of("all", all={"type": "array", "items": NEXT})}},
            [("$defs", "node")],
        ),
        (
            of(a=NEXT) | {"$defs": {"node": of("x", x={"anyOf": [NEXT, {"type": "null"}]})}},
            [("$defs", "node")],
        ),
        (of("a", a={"$ref": "#"}), [()]),
        (of("a", a=of(b={"$ref": "#"})) | {"additionalProperties": False}, []),
        (
            of(a=NEXT)
            | {
                "$defs": {
                    "node": of("to", to={"$ref": "#/$defs/edge"}),
                    "edge": of("to", to={"type": "object", "additionalProperties": NEXT}),
                    "leaf": of("text", text=TEXT),
                }
            },
            [("$defs", "node"), ("$defs", "edge")],
        ),
    ],
)
def test_recursion_ends_at_properties_that_may_be_left_out(
    schema: dict[str, Any], paths: list[tuple[str, ...]]
) -> None:
    shape = shaped("gemini", tool(schema))
    assert [loss.path for loss in shape.losses] == [("parameters", *path) for path in paths]
    assert all(loss.kind == "limit" for loss in shape.losses)
