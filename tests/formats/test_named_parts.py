"""Parts of a schema that are referred to by names of their own, in what each provider is told."""

from __future__ import annotations

import json
from typing import Any

from sovl_tools.formats.export import Target
from sovl_tools.loading.exporting import exported
from tests.formats.tools import arguments, tool
from tests.tables import check_each

THING = {"$id": "urn:x:thing", "type": "string", "minLength": 3}
NODE = {"$dynamicAnchor": "node", "type": "integer", "minimum": 7}
TOOL = tool(
    {
        **arguments(a={"$ref": "urn:x:thing"}, b={"$dynamicRef": "#node"}),
        "$defs": {"thing": THING, "node": NODE},
    }
)


@check_each(
    "target",
    ["openai", "openai-strict", "openai-responses", "anthropic", "anthropic-strict", "gemini",
     "openrouter", "openapi", "prompt"],
)  # fmt: skip
def test_what_has_a_name_of_its_own_is_told_like_any_definition(target: str) -> None:
    export = exported([TOOL], Target.of(target))
    text = json.dumps(export.definitions)
    assert "As defined at" not in text
    assert "urn:x" not in text
    losses = [loss.message for _, loss in export.losses]
    assert not [each for each in losses if "$ref" in each or "$dynamicRef" in each]


def test_the_definition_is_that_of_the_name() -> None:
    (made,) = exported([TOOL], Target.of("openai")).definitions
    defined: dict[str, Any] = made["function"]["parameters"]["$defs"]
    assert defined == {
        "thing": {"type": "string", "minLength": 3},
        "node": {"type": "integer", "minimum": 7},
    }
