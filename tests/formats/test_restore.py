"""Do arguments of strict tools come back as the manifest wants them, and nothing altered?"""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from sovl_tools.model.context import Export
from tests.formats.arguments import arguments_for
from tests.formats.exports import CAN_BE_STRICT, TARGETS, is_strict, registry_of, schema_of
from tests.formats.forms import comes_to, fits, strict_forms
from tests.formats.remarkable import RESTORED
from tests.formats.schemas import moderate, parameters, strict_parameters
from tests.formats.walking import rebuilt
from tests.schema.strategies import examples
from tests.tables import check_each

LEFT_OUT, SAID_OTHERWISE = "ST901", "ST903"
LOSING = {LEFT_OUT, "ST902", SAID_OTHERWISE}
"""The codes of what is dropped, moved into words or said otherwise."""

any_parameters = strict_parameters() | strict_parameters() | parameters()
every_strict = pytest.mark.parametrize("format_name", CAN_BE_STRICT)


def exported(schema: dict[str, Any], format_name: str) -> tuple[Export, dict[str, Any]]:
    """Return a strict export of one tool, and its definition."""
    manifest = {"name": "f", "description": "Look it up.", "parameters": schema}
    export = registry_of(manifest).export(format_name, strict=True)
    (definition,) = export.definitions
    return export, definition


def closed(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a subschema that admits no properties next to those that it lists, if any."""
    lists = "properties" in schema and "type" in schema
    return {"additionalProperties": False, **schema} if lists else schema


@every_strict
@moderate
@given(data=st.data())
def test_what_fits_a_strict_schema_fits_the_manifest_when_restored(
    format_name: str, data: st.DataObject
) -> None:
    schema = rebuilt(data.draw(any_parameters), closed)
    export, definition = exported(schema, format_name)
    assume(is_strict(definition))
    assume(not {found.code for found in export.diagnostics} & LOSING)
    sent = data.draw(arguments_for(schema_of(definition)))
    restored = export.restore("f", sent)
    assert fits(schema, restored, schema), restored
    assert comes_to(sent, restored)


@every_strict
@moderate
@given(data=st.data())
def test_what_fits_the_manifest_has_a_strict_form_that_restores_to_it(
    format_name: str, data: st.DataObject
) -> None:
    schema = data.draw(any_parameters)
    export, definition = exported(schema, format_name)
    assume(is_strict(definition))
    wanted = data.draw(arguments_for(schema))
    strict = schema_of(definition)
    possible = strict_forms(schema, wanted)
    assume(possible)
    forms = [form for form in (wanted, *possible) if fits(strict, form, strict)]
    assert forms
    restored = [export.restore("f", form) for form in forms]
    assert any(comes_to(each, wanted) and fits(schema, each, schema) for each in restored), restored


@check_each("format_name", ["openai", "openai-responses"])
@check_each(("schema", "sent", "wanted"), RESTORED)
def test_null_is_taken_out_where_it_stands_for_nothing(
    format_name: str, schema: dict[str, Any], sent: Any, wanted: Any
) -> None:
    export, definition = exported(schema, format_name)
    strict = schema_of(definition)
    assert is_strict(definition)
    assert fits(strict, sent, strict)
    assert export.restore("f", sent) == wanted
    assert export.restore("f", json.dumps(sent)) == wanted
    assert fits(schema, wanted, schema)


@settings(moderate, max_examples=examples(60))
@given(data=st.data())
def test_what_nobody_was_told_is_lost_is_not_lost(data: st.DataObject) -> None:
    # Arguments that are not listed are refused unless the manifest says otherwise.
    schema = {"additionalProperties": False, **data.draw(any_parameters)}
    registry = registry_of({"name": "f", "description": "Look it up.", "parameters": schema})
    wanted = data.draw(arguments_for(schema, is_open=True))
    for format_name, strict in TARGETS:
        export = registry.export(format_name, strict=strict)
        made = schema_of(export.definitions[0])
        if not {found.code for found in export.diagnostics} & LOSING:
            possible = [wanted, *strict_forms(schema, wanted)]
            assert any(fits(made, form, made) for form in possible), format_name
            sent = data.draw(arguments_for(made, is_open=True))
            assert fits(schema, export.restore("f", sent), schema), format_name


@moderate
@given(data=st.data())
def test_tools_that_are_not_strict_take_what_fits_the_manifest(data: st.DataObject) -> None:
    schema = data.draw(parameters())
    sent = data.draw(arguments_for(schema))
    registry = registry_of({"name": "f", "description": "Look it up.", "parameters": schema})
    for format_name, strict in TARGETS:
        export = registry.export(format_name, strict=strict)
        (definition,) = export.definitions
        if not is_strict(definition):
            assert export.restore("f", sent) == sent, format_name
            made = schema_of(definition)
            told = {found.code for found in export.diagnostics}
            assert told & {LEFT_OUT, SAID_OTHERWISE} or fits(made, sent, made), format_name
