"""Do arguments of strict tools come back as the manifest wants them, and nothing altered?"""

from __future__ import annotations

import json
from typing import Any

from hypothesis import assume, given
from hypothesis import strategies as st

from sovl_tools.formats.export import Export
from tests.formats.exports import CAN_BE_STRICT, TARGETS, is_strict, registry_of, schema_of
from tests.formats.remarkable import RESTORED
from tests.formats.schemas import moderate, samples
from tests.schema.validators import validator
from tests.tables import check_each

LOSING = {"ST901", "ST903"}
"""The codes of what is dropped or said otherwise."""


def exported(
    schema: dict[str, Any], format_name: str, *, strict: bool = True
) -> tuple[Export, dict[str, Any]]:
    """Return an export of one tool, and its definition."""
    manifest = {"name": "f", "description": "Look it up.", "parameters": schema}
    export = registry_of(manifest).export(format_name, strict=strict)
    (definition,) = export.definitions
    return export, definition


@moderate
@given(data=st.data())
def test_a_strict_schema_takes_what_restores_to_the_arguments(data: st.DataObject) -> None:
    sample = data.draw(samples(strict=True))
    wanted, sent = data.draw(sample.values)
    for format_name in CAN_BE_STRICT:
        export, definition = exported(sample.schema, format_name)
        if is_strict(definition):
            given_ = sent if format_name != "anthropic" else wanted
            assert validator(schema_of(definition)).is_valid(given_), format_name
            assert export.restore("f", given_) == wanted, format_name
        else:
            assert {each.code for each in export.diagnostics} & {"ST904", "ST907"}


@moderate
@given(data=st.data())
def test_definitions_take_the_arguments_unless_a_loss_is_told(data: st.DataObject) -> None:
    sample = data.draw(samples(strict=False))
    wanted, _ = data.draw(sample.values)
    assert validator(sample.schema).is_valid(wanted)
    for format_name, strict in TARGETS:
        export, definition = exported(sample.schema, format_name, strict=strict)
        assume(not is_strict(definition))
        assert export.restore("f", wanted) == wanted, format_name
        is_told = not {each.code for each in export.diagnostics}.isdisjoint(LOSING)
        assert is_told or validator(schema_of(definition)).is_valid(wanted), format_name


@check_each("format_name", ["openai", "openai-responses"])
@check_each(("schema", "sent", "wanted"), RESTORED)
def test_null_is_taken_out_where_it_stands_for_nothing(
    format_name: str, schema: dict[str, Any], sent: Any, wanted: Any
) -> None:
    export, definition = exported(schema, format_name)
    assert is_strict(definition)
    assert validator(schema_of(definition)).is_valid(sent)
    assert export.restore("f", sent) == wanted
    assert export.restore("f", json.dumps(sent)) == wanted
    assert validator(schema).is_valid(wanted)
