"""Manifests in the styles of other systems: what validate says, and what calls accept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

from sovl_tools import Tooler, ToolRegistry
from tests.tables import check_each

TEXT = {"type": "string", "description": "A text."}
COUNT = {"type": "integer", "description": "A number."}


class Row(NamedTuple):
    """A manifest's parameters and its function.

    Attributes:
        name: what is special about it.
        parameters: the schema of the arguments.
        takes: the parameters of the function.
        codes: what ``validate`` says.
        accepted: arguments that a call accepts; the function returns them.
        rejected: arguments that a call rejects.
    """

    name: str
    parameters: dict[str, Any]
    takes: str
    codes: str = ""
    accepted: tuple[dict[str, Any], ...] = ()
    rejected: tuple[dict[str, Any], ...] = ()


def of(*required: str, **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": [*required]}


ROWS = [
    Row(
        "titles, as pydantic writes them",
        {"title": "Arguments", **of("a", a={"title": "A", **TEXT},
         b={"title": "B", **COUNT, "default": 3})},
        "a, b=3", accepted=({"a": "x", "b": 4},), rejected=({"b": 4},),
    ),
    Row(
        "definitions, as pydantic 1 writes them",
        {**of("p", p={"allOf": [{"$ref": "#/definitions/P"}], "description": "A place."}),
         "definitions": {"P": of("x", x=COUNT)}},
        "p", accepted=({"p": {"x": 1}},), rejected=({"p": {}},),
    ),
    Row(
        "null beside a type, as pydantic writes it",
        of(a={"anyOf": [{"type": "string"}, {"type": "null"}], "default": None,
              "description": "A text."}),
        "a=None", accepted=({}, {"a": None}, {"a": "x"}), rejected=({"a": 1},),
    ),
    Row(
        "arguments behind allOf",
        {"type": "object", "properties": {}, "allOf": [of("a", a=TEXT), of(b=COUNT)]},
        "a, b=0", accepted=({"a": "x"},), rejected=({"b": 1}, {"a": "x", "c": 1}),
    ),
    Row(
        "a required argument behind allOf that isn't taken",
        {"type": "object", "properties": {}, "allOf": [of("a", a=TEXT)]}, "", "ST402",
    ),
    Row(
        "an argument that only one case requires",
        {**of("k", k=TEXT, v=COUNT),
         "if": {"properties": {"k": {"const": "set"}}}, "then": {"required": ["v"]}},
        "k, v=None", accepted=({"k": "get"}, {"k": "set", "v": 1}), rejected=({"k": "set"},),
    ),
    Row(
        "such an argument without a default",
        {**of("k", k=TEXT, v=COUNT),
         "if": {"properties": {"k": {"const": "set"}}}, "then": {"required": ["v"]}},
        "k, v", "ST403",
    ),
    Row("any further arguments that aren't taken",
        {**of("a", a=TEXT), "additionalProperties": True}, "a", "ST410",
        rejected=({"a": "x", "b": 1},)),
    Row(
        "a tree",
        {**of("t", t={"$ref": "#/$defs/T"}),
         "$defs": {"T": {**of("v", v=COUNT, c={"type": "array", "description": "Children.",
          "items": {"$ref": "#/$defs/T"}}), "description": "A tree."}}},
        "t", accepted=({"t": {"v": 1, "c": [{"v": 2}]}},), rejected=({"t": {"c": []}},),
    ),
    Row("values of another type", of("a", a={**COUNT, "enum": ["x", "y"]}), "a", "ST311 ST316"),
    Row("a format", of("a", a={**TEXT, "format": "date"}), "a: date",
        accepted=(), rejected=({"a": "soon"},)),
    Row("a typo in a required name", of("aa", a=TEXT), "a", "ST302 ST403"),
    Row("a name that is a keyword", of("from", **{"from": TEXT}), "a=0", "ST402 ST413"),
    Row("another default in the function", of(a={**COUNT, "default": 3}), "a=4", "ST407",
        accepted=({"a": 1},)),
]  # fmt: skip


@check_each("row", ROWS, ids=lambda row: row.name)
def test_a_manifest_is_judged_and_called(row: Row, tmp_path: Path) -> None:
    folder = tmp_path / str(ROWS.index(row)) / "act"
    folder.mkdir(parents=True)
    manifest = {"name": "act", "description": "Act on it.", "parameters": row.parameters}
    (folder / "act.json").write_text(json.dumps(manifest))
    head = "from datetime import date\n\n\n" if "date" in row.takes else ""
    (folder / "act.py").write_text(f"{head}def act({row.takes}):\n    return locals()\n")
    registry = ToolRegistry.from_directory(folder.parent)
    found = sorted({each.code for each in registry.report.diagnostics})
    assert " ".join(found) == row.codes
    with Tooler(registry) as tooler:
        for given in row.accepted:
            result = tooler.call_sync("act", given)
            assert result.error is None, result.error
            value = {**result.value, **result.value.pop("rest", {})}
            assert given.items() <= value.items()
        for given in row.rejected:
            error = tooler.call_sync("act", given).error
            assert error is not None
            assert error.kind == "invalid_arguments"
