"""What there is only one place for: the built-in actions, and what files of procedures end in."""

from __future__ import annotations

import json
import re

from sovl_tools.linting.rules import RULES
from sovl_tools.model.actions import ACTIONS
from sovl_tools.procedures.procedure import COMMON
from sovl_tools.schema.engine import schema_text
from tests.conftest import REPOSITORY


def test_the_published_schema_has_the_actions_with_their_keys() -> None:
    step = json.loads(schema_text("procedure"))["$defs"]["step"]
    assert {*step["properties"]} == {*COMMON}
    rules = {each["if"]["properties"]["action"]["const"]: each["then"] for each in step["allOf"]}
    keys = {action: {*each["properties"]} for action, each in rules.items()}
    assert keys == {action: {*each.keys} for action, each in ACTIONS.items()}


def test_texts_that_list_the_actions_name_all_of_them() -> None:
    step = json.loads(schema_text("procedure"))["$defs"]["step"]
    page = (REPOSITORY / "docs" / "reference" / "procedure.md").read_text(encoding="utf-8")
    guide = (REPOSITORY / "docs" / "reference" / "module.md").read_text(encoding="utf-8")
    listed = {
        "the schema": {*re.findall(r"\w+", step["properties"]["action"]["description"])},
        "the guide": {*re.findall(r"`(\w+)`", guide.partition("Actions of other tools")[2][:300])},
        "the page": {*re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)},
        "ST606": {*re.findall(r"``(\w+)``", RULES["ST606"].explanation)},
    }
    missing = {name: ACTIONS.keys() - words for name, words in listed.items()}
    assert not any(missing.values()), missing
