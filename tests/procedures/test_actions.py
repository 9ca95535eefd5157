"""The table of built-in actions is the only list of them: what is said elsewhere is of the same."""

from __future__ import annotations

import json

from sovl_tools.model.actions import ACTIONS
from sovl_tools.procedures import outline
from sovl_tools.procedures.model import COMMON
from sovl_tools.schema.engine import schema_text


def test_the_published_schema_has_the_actions_with_their_keys() -> None:
    step = json.loads(schema_text("procedure"))["$defs"]["step"]
    assert {*step["properties"]} == {*COMMON}
    rules = {each["if"]["properties"]["action"]["const"]: each["then"] for each in step["allOf"]}
    keys = {action: {*each["properties"]} for action, each in rules.items()}
    assert keys == {action: {*each.keys} for action, each in ACTIONS.items()}


def test_every_action_is_told_in_words() -> None:
    assert outline.WORDS.keys() == ACTIONS.keys()
