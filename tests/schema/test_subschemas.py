from __future__ import annotations

from typing import Any

import pytest

from sovl_tools.model.errors import SchemaError
from sovl_tools.schema.engine import compile_schema
from sovl_tools.schema.subschemas import (
    Reference,
    excess,
    lookup,
)
from tests.tables import check_each

ROOT: dict[str, Any] = {
    "$id": "urn:root",
    "$defs": {
        "size": {"type": "integer"},
        "a/b~c": {"type": "string"},
        "a b": {"type": "null"},
        "50%": {"type": "number"},
        "named": {"$anchor": "here"},
    },
    "anyOf": [{"minimum": 1}, {"maximum": 2}],
}
LEADS_OUT = "leads out of the schema, and the network is never used"


@check_each(
    ("reference", "target"),
    [
        ("#", ROOT),
        ("urn:root", ROOT),
        ("#/$defs/size", {"type": "integer"}),
        ("urn:root#/$defs/size", {"type": "integer"}),
        ("#/$defs/size/type", "integer"),
        ("#/anyOf/1", {"maximum": 2}),
        ("#/$defs/a~1b~0c", {"type": "string"}),
    ],
)
def test_a_pointer_leads_to_its_target(reference: str, target: Any) -> None:
    found = lookup(ROOT, reference)
    assert (found.target, found.failure) == (target, None)
    place: Any = ROOT
    for key in found.path:
        place = place[key]
    assert place is found.target


@check_each(
    ("reference", "failure"),
    [
        ("#/$defs/absent", "leads nowhere"),
        ("#/anyOf/2", "leads nowhere"),
        ("#absent", "names an anchor that is not there"),
        ("other.json", LEADS_OUT),
        ("http://localhost/schema.json#/$defs/size", LEADS_OUT),
    ],
)
def test_a_reference_that_leads_nowhere_says_why(reference: str, failure: str) -> None:
    assert lookup(ROOT, reference) == Reference(failure=failure)
    with pytest.raises(SchemaError):
        compile_schema({**ROOT, "$ref": reference})


def chain(length: int) -> dict[str, Any]:
    """Return a schema whose definitions refer each to the next one."""
    defined: dict[str, Any] = {
        f"d{each}": {"properties": {"next": {"$ref": f"#/$defs/d{each + 1}"}}}
        for each in range(length - 1)
    }
    first = {"$ref": "#/$defs/d0"}
    return {"properties": {"x": first}, "$defs": {**defined, f"d{length - 1}": {}}}


def test_a_long_straight_way_through_definitions_is_not_too_far() -> None:
    assert excess(chain(150)) is None
    assert excess(chain(200)) is None
    assert excess(chain(1_000)) == excess(chain(201))
    assert excess(chain(201)) == "follow each other more than 200 times"


def test_definitions_that_refer_twice_to_the_next_one_multiply() -> None:
    defined: dict[str, Any] = {
        f"d{each}": {"allOf": [{"$ref": f"#/$defs/d{each + 1}"}] * 2} for each in range(40)
    }
    root = {"$ref": "#/$defs/d0", "$defs": {**defined, "d40": {}}}
    assert excess(root) == "multiply to more than 10,000 subschemas"
