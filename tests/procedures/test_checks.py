"""Documents that aren't procedures: ST750 to ST752 and ST765; and procedures without fault."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sovl_tools import Diagnostic, ProcedureManager, ToolRegistry
from sovl_tools.procedures.errors import ProcedureError
from tests.procedures.workshop import add, found, manager_of, procedure, values
from tests.tables import check_each


def said(source: Any) -> list[str]:
    return found(manager_of(add).check(source))


def shown(diagnostic: Diagnostic) -> str:
    return f"{diagnostic.line}:{diagnostic.column} {diagnostic.code} {diagnostic.message}"


@check_each(
    ("step", "message"),
    [
        ({"action": "if", "condition": "x", "then": []}, "at 'steps[0].then'"),
        ({**values(x=1), "timeout": 0}, "must be more than 0"),
        ({**values(x=1), "save_as": "1x"}, "at 'steps[0].save_as'"),
        ({"action": "for_each", "items": [], "at_once": 0, "steps": [values(x=1)]}, "at_once"),
    ],
)
def test_a_part_of_the_wrong_kind_is_told(step: Any, message: str) -> None:
    (only,) = said(procedure(step))
    assert only.startswith("ST751 ")
    assert message in only


@check_each(
    ("block", "place"),
    [
        ({"action": "if", "condition": "true", "then": ["…"]}, "then[0]"),
        ({"action": "if", "condition": "true", "then": [values(x=1)], "else": ["…"]}, "else[0]"),
        ({"action": "for_each", "items": [1], "steps": ["…"]}, "steps[0]"),
        ({"action": "parallel", "branches": {"left": ["…"]}}, "branches.left[0]"),
    ],
)
def test_an_unknown_key_in_a_block_is_told(block: Any, place: str) -> None:
    step = {"action": "fail", "message": "no", "mesage": "no"}
    source = json.loads(json.dumps(procedure(block)).replace('"\\u2026"', json.dumps(step)))
    (message,) = said(source)
    assert message.endswith(f"at 'steps[0].{place}.mesage'")


def test_keys_of_ones_own_are_fine() -> None:
    source = procedure({**values(x=1), "x-why": "{{ broken"}, **{"x-author": "me"})
    assert said(source) == []
    assert manager_of().run_sync(source) is None


@check_each(
    ("schema", "message"),
    [
        ({"$ref": "#/$defs/a"}, "the schema can't be used: "),
        (
            {
                "$ref": "#/$defs/a40",
                "$defs": {
                    f"a{level}": {"allOf": [{"$ref": f"#/$defs/a{max(level - 1, 0)}"}] * 2}
                    for level in range(41)
                },
            },
            "the references in the schema expand without end, at 'inputs'",
        ),
    ],
    ids=["a reference to nothing", "an endless schema"],
)
def test_an_unfit_schema_of_the_inputs_is_told(schema: Any, message: str) -> None:
    source = procedure(values(x="{{ inputs.a }}"), inputs={"type": "object", **schema})
    (only,) = said(source)
    assert only.startswith(f"ST765 {message}")


@pytest.mark.parametrize("file", ["sample.yaml", "sample.yml", "sample.json", "dir/sample.json"])
def test_a_procedure_is_called_as_its_file(tmp_path: Path, file: str) -> None:
    path = tmp_path / file
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(procedure(values(x=1))))
    assert said(path) == []
    other = path.rename(path.with_stem("simple"))
    assert said(other) == ["ST768 the name is 'sample', the file's is 'simple'"]


PLACED = """\
name: sample
description: A sample.
inputs: {type: object, properties: {url: {type: string}}, required: [url]}
steps:
  - action: tool
    tool: ad
    arguments:
      a: "{{ inputs.ulr }}"
  - action: set
    values:
      x: 1
      "y": "{{ z }}"
    wehn: x
  - action: tool
    tool: add
    arguments: {a: "1", b: 2, c: 3}
output:
  x: "{{ x + }}"
"""


def test_everything_is_told_at_once_with_its_place(tmp_path: Path) -> None:
    path = tmp_path / "sample.yaml"
    path.write_text(PLACED)
    assert list(map(shown, manager_of(add).check(path))) == [
        "6:11 ST754 there's no tool 'ad'",
        "8:10 ST760 'inputs' has no 'ulr'",
        "12:12 ST760 there's no variable 'z'",
        "13:5 ST752 'wehn' is not a key of a step 'set'",
        '16:20 ST766 a: must be an integer, not the string "1"',
        "16:34 ST766 c: is not a parameter",
        "18:6 ST759 an expression is missing here",
    ]


@check_each(
    ("document", "name"),
    [
        ({"name": "demo", "steps": []}, "demo"),
        ({"name": 7, "steps": []}, "a procedure without a name"),
        ({"steps": []}, "a procedure without a name"),
    ],
)
def test_a_dictionary_is_told_by_its_name(document: dict[str, Any], name: str) -> None:
    manager = ProcedureManager(ToolRegistry())
    found = manager.check(document)
    assert found
    assert all(str(each).startswith(f"{name}: ST7") for each in found)
    with pytest.raises(ProcedureError, match=f"^{name}: ST7"):
        manager.run_sync(document)
