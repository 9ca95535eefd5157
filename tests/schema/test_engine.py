from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from sovl_tools.model.folder import KEYS, REQUIRED_KEYS
from sovl_tools.schema.engine import PUBLISHED, compile_schema, published, schema_text
from tests.conftest import manifest_of
from tests.schema.strategies import examples, moderate, schemas, values
from tests.tables import check_each


@check_each("name", PUBLISHED)
def test_a_published_schema_is_valid_json_schema(name: str) -> None:
    schema = json.loads(schema_text(name))
    Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == Draft202012Validator.META_SCHEMA["$id"]
    assert schema["$id"] == f"urn:sovl-tools:schema:{name}"


def test_the_meta_schema_lists_the_keys_of_a_manifest() -> None:
    schema = json.loads(schema_text("tool"))
    assert set(schema["properties"]) == KEYS
    assert tuple(schema["required"]) == REQUIRED_KEYS


@check_each(
    ("keys", "place"),
    [
        ({"name": "no-identifier"}, ("name",)),
        ({"parameters": {"type": "object"}}, ("parameters",)),
        (
            {"parameters": {"type": "object", "properties": {"a": {"type": "int"}}}},
            ("parameters", "properties", "a", "type"),
        ),
        ({"enabled": "false"}, ("enabled",)),
        ({"activation_phrases": "say it"}, ("activation_phrases",)),
        ({"execution": {"timeout": 0}}, ("execution", "timeout")),
    ],
    ids=str,
)
def test_a_bad_manifest_has_a_problem_at_its_place(
    keys: dict[str, Any], place: tuple[str | int, ...]
) -> None:
    problems = published("tool").problems({**manifest_of("echo"), **keys})
    assert {problem.path for problem in problems} == {place}


OFFICIAL = {"$ref": "https://json-schema.org/draft/2020-12/schema"}
KEYWORDS = sorted(json.loads(schema_text("tool"))["$defs"]["schema"]["properties"])


@settings(moderate, max_examples=examples(400))
@given(schemas, st.dictionaries(st.sampled_from(KEYWORDS), values | schemas, max_size=3))
def test_the_flat_meta_schema_accepts_what_the_official_one_accepts(
    schema: Any, keywords: dict[str, Any]
) -> None:
    mixed = {**schema, **keywords} if isinstance(schema, dict) else schema
    document = manifest_of("echo", output_schema={"properties": {"a": mixed}})
    is_schema = compile_schema(OFFICIAL).is_valid(mixed)
    assert published("tool").is_valid(document) == is_schema
