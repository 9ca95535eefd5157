"""A manifest that admits less than its function takes does not contradict it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any, TypeAlias

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from sovl_tools.model.errors import InferenceError
from sovl_tools.schema.comparison import narrowings
from sovl_tools.schema.subschemas import nodes
from sovl_tools.signature.agreement import value_differences
from sovl_tools.signature.inference import infer
from tests.annotations.strategies import cases
from tests.schema.strategies import examples, moderate

CONTRADICTIONS = {"types", "alternative", "value", "bounds", "superfluous", "missing"}

Schema: TypeAlias = dict[str, Any]
Narrow: TypeAlias = Callable[[st.DataObject, Schema, Schema], None]


def fewer_alternatives(data: st.DataObject, schema: Schema, _: Schema) -> None:
    if len(schema.get("anyOf", ())) > 1:
        kept = st.lists(st.sampled_from(schema["anyOf"]), min_size=1, max_size=2)
        schema["anyOf"] = deepcopy(data.draw(kept))


def other_order(_: st.DataObject, schema: Schema, __: Schema) -> None:
    if "anyOf" in schema:
        schema["anyOf"].reverse()


def one_type(data: st.DataObject, schema: Schema, _: Schema) -> None:
    if isinstance(schema.get("type"), list):
        schema["type"] = data.draw(st.sampled_from(schema["type"]))


def a_branch_for_each_type(_: st.DataObject, schema: Schema, __: Schema) -> None:
    if isinstance(schema.get("type"), list):
        said = deepcopy(schema)
        schema.clear()
        schema["anyOf"] = [{**deepcopy(said), "type": each} for each in said["type"]]


def wrapped(data: st.DataObject, schema: Schema, _: Schema) -> None:
    said = dict(schema)
    schema.clear()
    schema[data.draw(st.sampled_from(["anyOf", "allOf"]))] = [said]


def written_out(_: st.DataObject, schema: Schema, root: Schema) -> None:
    name = schema.get("$ref", "").removeprefix("#/$defs/")
    if isinstance(root.get("$defs", {}).get(name), dict):
        del schema["$ref"]
        schema.update(deepcopy(root["$defs"][name]))


WAYS: list[Narrow] = [
    fewer_alternatives, other_order, one_type, a_branch_for_each_type, wrapped, written_out,
]  # fmt: skip


def _places(root: Schema) -> Iterator[Schema]:
    for node in nodes(root, ()):
        if len(node.path) > 1 and node.path != ("$defs",):
            yield node.schema


@settings(moderate, max_examples=examples(400))
@given(
    cases.map(lambda case: case.annotation), st.lists(st.sampled_from(WAYS), max_size=3), st.data()
)
def test_a_manifest_that_admits_less_contradicts_nothing(
    annotation: Any, ways: list[Narrow], data: st.DataObject
) -> None:
    def function(value: Any) -> None: ...

    function.__annotations__ = {"value": annotation}
    try:
        own = infer(function)
    except InferenceError:
        return
    manifest = deepcopy(own.parameters)
    for narrow in ways:
        narrow(data, data.draw(st.sampled_from([*_places(manifest)])), manifest)
    assume(not narrowings(manifest, own.parameters))
    found = value_differences(manifest, own.with_all_defaults)
    assert [each for each in found if each.kind in CONTRADICTIONS] == []
