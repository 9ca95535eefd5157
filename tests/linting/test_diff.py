"""What is told of two versions of a tool."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from sovl_tools.linting.diff import ToolChange, ToolVersion, compare, versions_of
from sovl_tools.loading.sources import collect
from tests.tables import check_each

TEXT = {"type": "string"}


def parameters(properties: dict[str, Any], *required: str, **keys: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": [*required], **keys}


def version(document: dict[str, Any] | None = None, **fields: Any) -> ToolVersion:
    known = {"name": "say", "description": "Say.", "parameters": parameters({"text": TEXT}, "text")}
    return ToolVersion({**known, **(document or {})}, **fields)


def told(old: ToolVersion, new: ToolVersion) -> list[str]:
    return [
        f"{each.kind}: {each.message}"
        for tool in compare({"say": old}, {"say": new})
        for each in tool.changes
    ]


CITY = {"city": TEXT}
COUNT = {"count": {"type": "integer", "minimum": 0, "maximum": 9}}
UNIT = {"unit": {"enum": ["C", "F"]}}
PLACE = {"place": {"type": "object", "properties": CITY}}


@check_each(
    ("old", "new", "expected"),
    [
        (parameters(CITY), parameters(CITY, "city"), ["breaking: 'city' is required now"]),
        (
            parameters(CITY, "city"),
            parameters(CITY),
            ["compatible: 'city' is not required anymore"],
        ),
        (
            parameters({**CITY, **COUNT}),
            parameters(CITY),
            ["breaking: 'count' is not taken anymore"],
        ),
        (parameters(CITY), parameters({**CITY, **COUNT}), ["compatible: 'count' is new"]),
        (
            parameters(CITY),
            parameters({**CITY, **COUNT}, "count"),
            ["breaking: 'count' is required now", "compatible: 'count' is new"],
        ),
        (
            parameters(UNIT),
            parameters({"unit": TEXT}),
            ['compatible: \'unit\': enum ["C", "F"] is gone'],
        ),
        (
            parameters(PLACE),
            parameters(
                {"place": {"type": "object", "properties": CITY, "additionalProperties": False}}
            ),
            ["breaking: 'place' takes only the listed properties"],
        ),
        (
            parameters({"text": {"type": "string", "default": "a"}}),
            parameters({"text": {"type": "string", "default": "b", "description": "Some."}}),
            [
                "compatible: defaults in parameters changed",
                "wording: descriptions in parameters changed",
            ],
        ),
    ],
)
def test_a_change_of_parameters_is_told(old: Any, new: Any, expected: list[str]) -> None:
    assert told(version({"parameters": old}), version({"parameters": new})) == expected


@check_each(
    ("old", "new", "expected"),
    [
        ({}, {"output_schema": TEXT}, ["compatible: output_schema is new"]),
        ({"output_schema": TEXT}, {}, ["breaking: output_schema is gone"]),
        (
            {"output_schema": parameters(CITY, "city")},
            {"output_schema": parameters(CITY)},
            ["breaking: output: 'city' is not required anymore"],
        ),
        ({"title": "Say"}, {"title": "Tell"}, ["wording: title changed"]),
        ({}, {"execution": {"timeout": 5}}, ["compatible: execution changed"]),
    ],
)
def test_a_change_of_the_manifest_is_told(old: Any, new: Any, expected: list[str]) -> None:
    found = told(version(old), version(new))
    assert found == expected


def test_a_change_of_the_module_is_told() -> None:
    old = version(phrases=("a",), actions=("send", "wait_for"), code="1")
    assert told(old, version(phrases=("b",), actions=("send", "post"), code="2")) == [
        "breaking: the action 'wait_for' is gone",
        "compatible: the action 'post' is new",
        "compatible: the code changed",
        "wording: activation_phrases changed",
    ]


def test_what_a_function_takes_besides_counts_if_it_takes_any() -> None:
    old, new = version(), version({"parameters": parameters({"text": TEXT, **COUNT}, "text")})
    assert told(old, new) == ["compatible: 'count' is new"]
    taken = [ToolVersion(each.document, is_open=True) for each in (old, new)]
    assert told(*taken)[0].startswith('breaking: \'count\' is {"type": "integer"')
    closed = ToolVersion({**old.document, "parameters": old.parameters}, is_open=True)
    assert told(taken[0], closed) == ["breaking: the whole takes only the listed properties"]


@check_each(
    ("old", "new", "raised"),
    [
        (None, None, ""),
        ("1.9", "1.10", "raised"),
        ("2", "1.9", ""),
        ("first", "second", ""),
    ],
)
def test_a_version_is_raised_if_it_is_higher(old: str | None, new: str | None, raised: str) -> None:
    assert ToolChange("say", "changed", old, new, ()).is_raised is bool(raised)


def test_a_tool_that_is_broken_or_disabled_is_gone(tmp_path: Path) -> None:
    document = version().document
    cases = {"whole": document, "disabled": {**document, "enabled": False}, "broken": {}}
    for name, each in cases.items():
        folder = tmp_path / "say"
        folder.mkdir(exist_ok=True)
        (folder / "say.json").write_text(json.dumps(each))
        (folder / "say.py").write_text("def say(text): ...\n")
        found = versions_of(collect([tmp_path]).folders)
        assert [*found] == (["say"] if name == "whole" else []), name


def changes_of(
    old: dict[str, ToolVersion], new: dict[str, ToolVersion], release: str | None = None
) -> list[tuple[str, str, str]]:
    return [
        (tool.name, tool.status, f"{each.kind}: {each.message}")
        for tool in compare(old, new, release=release)
        for each in tool.changes
    ]


def named(*aliases: str, **keys: Any) -> ToolVersion:
    return version({"aliases": [*aliases], **keys})


@check_each(
    ("old", "new", "expected"),
    [
        (
            {"say": named()},
            {"tell": named("say")},
            [("say", "renamed", "compatible: the name is 'tell', 'say' an alias")],
        ),
        (
            {"say": named("yell")},
            {"tell": named("say")},
            [
                ("say", "renamed", "breaking: the alias 'yell' is gone"),
                ("say", "renamed", "compatible: the name is 'tell', 'say' an alias"),
            ],
        ),
        (
            {"say": named("yell")},
            {"say": named(), "yell": named()},
            [
                ("say", "changed", "breaking: the alias 'yell' is gone"),
                ("yell", "added", "compatible: the tool is new"),
            ],
        ),
        (
            {"say": named()},
            {"say": named(replaced_by="tell")},
            [("say", "changed", "compatible: Deprecated: use tell instead.")],
        ),
        (
            {"say": named(deprecated=True)},
            {"say": named()},
            [("say", "changed", "compatible: it isn't deprecated anymore")],
        ),
    ],
)
def test_names_are_followed(
    old: dict[str, ToolVersion], new: dict[str, ToolVersion], expected: list[tuple[str, str, str]]
) -> None:
    assert changes_of(old, new) == expected


@check_each(
    ("keys", "release", "expected"),
    [
        ({}, "2.0", "breaking: the tool is gone, disabled or broken"),
        ({"deprecated": True}, None, "compatible: the tool is gone, which was deprecated"),
        (
            {"removed_in": "2.0"},
            None,
            "breaking: the tool is gone before 2.0; use --release if this is 2.0 or later",
        ),
        ({"removed_in": "2.0"}, "1.9", "breaking: the tool is gone before 2.0; this is 1.9"),
        ({"removed_in": "2.0"}, "2", "compatible: the tool is gone, as announced for 2.0"),
    ],
)
def test_a_removal_breaks_unless_it_was_announced(
    keys: dict[str, Any], release: str | None, expected: str
) -> None:
    assert changes_of({"say": named(**keys)}, {}, release) == [("say", "removed", expected)]
