from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from sovl_tools.model.folder import KEYS, REQUIRED_KEYS
from sovl_tools.schema.engine import PUBLISHED, compile_schema, engine_name, published, schema_text
from tests.conftest import REPOSITORY, manifest_of
from tests.schema.strategies import examples, moderate, schemas, values
from tests.tables import check_each


@check_each("name", PUBLISHED)
def test_a_published_schema_is_valid_json_schema(name: str) -> None:
    schema = json.loads(schema_text(name))
    Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == Draft202012Validator.META_SCHEMA["$id"]
    assert schema["$id"] == f"urn:sovl-tools:schema:{name}"


def test_every_file_of_schemas_is_published() -> None:
    files = (REPOSITORY / "schemas").glob("*.schema.json")
    assert {file.name.removesuffix(".schema.json") for file in files} == set(PUBLISHED)


def test_the_meta_schema_lists_the_keys_of_a_manifest() -> None:
    schema = json.loads(schema_text("tool"))
    assert set(schema["properties"]) == KEYS
    assert tuple(schema["required"]) == REQUIRED_KEYS


@check_each(
    "keys",
    [
        {},
        {"tags": ["io"], "activation_phrases": ["say it"], "enabled": False, "x-mine": 1},
        {"execution": {"mode": "thread", "timeout": 0.5}, "metadata": {"any": [1]}},
        {"examples": [{"input": "say hello"}, {"input": {"text": "a"}, "output": None}]},
        {"output_schema": {"type": "string"}, "annotations": {"read_only": True}},
        {"requires": {"env": ["HOME"], "packages": ["numpy"]}, "category": "text"},
        {"reload": ["*.csv", "data/words.txt"]},
    ],
    ids=str,
)
def test_a_good_manifest_has_no_problems(keys: dict[str, Any]) -> None:
    assert published("tool").problems({**manifest_of("echo"), **keys}) == []


@check_each(
    ("keys", "place"),
    [
        ({"name": "no-identifier"}, ("name",)),
        ({"name": "a" * 65}, ("name",)),
        ({"description": " "}, ("description",)),
        ({"parameters": {"type": "object"}}, ("parameters",)),
        ({"parameters": {"type": "array", "properties": {}}}, ("parameters", "type")),
        (
            {"parameters": {"type": "object", "properties": {"a": {"type": "int"}}}},
            ("parameters", "properties", "a", "type"),
        ),
        ({"enabled": "false"}, ("enabled",)),
        ({"tags": ["io", ""]}, ("tags", 1)),
        ({"activation_phrases": "say it"}, ("activation_phrases",)),
        ({"reload": "*.csv"}, ("reload",)),
        ({"reload": [""]}, ("reload", 0)),
        ({"execution": {"timeout": 0}}, ("execution", "timeout")),
        ({"execution": {"mode": "fibre"}}, ("execution", "mode")),
        ({"examples": [{"output": 1}]}, ("examples", 0)),
        ({"output_schema": True}, ("output_schema",)),
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


WITHOUT = """
import sys
for library in sys.argv[1:]:
    sys.modules[library] = None
from sovl_tools.schema.engine import compile_schema, engine_name
try:
    print(engine_name(), compile_schema({"type": "integer"}).is_valid("x"))
except ImportError as error:
    print(error)
"""


def test_the_native_engine_does_the_work_where_it_is_installed() -> None:
    assert engine_name() == "jsonschema-rs"


@check_each(
    ("absent", "said"),
    [
        (["jsonschema_rs"], "jsonschema False"),
        (["jsonschema"], "jsonschema-rs False"),
        (["jsonschema_rs", "jsonschema"], "sovl-tools needs jsonschema-rs or jsonschema"),
    ],
)
def test_an_engine_that_is_absent_is_stood_in_for(absent: list[str], said: str) -> None:
    command = [sys.executable, "-c", WITHOUT, *absent]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == said
