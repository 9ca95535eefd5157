from __future__ import annotations

from typing import Any

import pytest

from sovl_tools.model.errors import SchemaError
from sovl_tools.model.references import Reference, lookup
from sovl_tools.validation import compile_schema

ROOT: dict[str, Any] = {
    "$id": "urn:root",
    "$defs": {
        "size": {"type": "integer"},
        "a/b~c": {"type": "string"},
        "a b": {"type": "null"},
        "50%": {"type": "number"},
        "named": {"$anchor": "here"},
        "apart": {"$id": "urn:apart"},
    },
    "anyOf": [{"minimum": 1}, {"maximum": 2}],
}
LEADS_OUT = "leads out of the schema, and nothing is fetched"


@pytest.mark.parametrize(
    ("reference", "target"),
    [
        ("#", ROOT),
        ("", ROOT),
        ("urn:root", ROOT),
        ("#/$defs/size", {"type": "integer"}),
        ("urn:root#/$defs/size", {"type": "integer"}),
        ("#/$defs/size/type", "integer"),
        ("#/anyOf/1", {"maximum": 2}),
        ("#/$defs/a~1b~0c", {"type": "string"}),
        ("#/$defs/a%20b", {"type": "null"}),
        ("#/%24defs/50%25", {"type": "number"}),
    ],
)
def test_a_pointer_leads_to_its_target(reference: str, target: Any) -> None:
    assert lookup(ROOT, reference) == Reference(target)


@pytest.mark.parametrize(
    "reference", ["#here", "urn:apart", "https://json-schema.org/draft/2020-12/schema"]
)
def test_what_only_the_engine_can_follow_is_no_failure(reference: str) -> None:
    assert lookup(ROOT, reference).failure is None


@pytest.mark.parametrize(
    ("reference", "failure"),
    [
        ("#/$defs/absent", "leads nowhere"),
        ("#/$defs/size/type/deeper", "leads nowhere"),
        ("#/anyOf/2", "leads nowhere"),
        ("#/anyOf/first", "leads nowhere"),
        ("#/anyOf/-1", "leads nowhere"),
        ("#absent", "names an anchor that is not there"),
        ("other.json", LEADS_OUT),
        ("http://localhost/schema.json#/$defs/size", LEADS_OUT),
        ("file:///etc/passwd", LEADS_OUT),
    ],
)
def test_a_reference_that_leads_nowhere_says_why(reference: str, failure: str) -> None:
    assert lookup(ROOT, reference) == Reference(failure=failure)
    with pytest.raises(SchemaError):
        compile_schema({**ROOT, "$ref": reference})
