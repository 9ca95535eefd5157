"""Choosing tools by what is known of them."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

from sovl_tools import ToolDefinition, ToolRegistry
from tests.tables import check_each

EMPTY = {"type": "object", "properties": {}}


def meets(criteria: dict[str, Any], **fields: Any) -> bool:
    """Return whether a tool that is registered with those fields is among those that are chosen."""
    registry = ToolRegistry()
    registry.register(ToolDefinition("aws_s3_list", "List.", EMPTY, lambda: None, **fields))
    return bool(registry.filter(**criteria))


@check_each(
    ("pattern", "fits"),
    [
        ("aws_s3_*", True),
        ("aws_s3_list", True),
        ("*_list", True),
        ("aws_s?_[l-n]*", True),
        ("aws_s3", False),
        ("AWS_*", False),
        ("", False),
        (re.compile("s3"), True),
        (re.compile("^s3"), False),
        (re.compile("LIST$", re.IGNORECASE), True),
    ],
    ids=str,
)
def test_a_name_fits_a_shell_pattern_or_holds_an_expression(pattern: Any, *, fits: bool) -> None:
    assert meets({"name_pattern": pattern}) is fits


@check_each(
    ("key", "wanted", "is_met"),
    [
        ("category", "storage", True),
        ("category", "Storage", False),
        ("category", None, False),
        ("version", None, True),
        ("tags", ["io"], True),
        ("tags", ("read", "io"), True),
        ("tags", {"io", "read"}, True),
        ("tags", [], True),
        ("tags", ["io", "write"], False),
        ("tags", "io", True),
        ("tags", "i", False),
        ("cities", "Oslo", True),
        ("team", "north", True),
        ("team", "south", False),
        ("levels", [2, 1], True),
        ("levels", [3], False),
        ("cities", ["Oslo"], True),
        ("cities", [], True),
        ("is_fast", True, True),
        ("speed", 3, True),
        ("speed", None, False),
        ("nothing_of_the_kind", None, False),
        ("nothing_of_the_kind", [], False),
    ],
)
def test_a_criterion_is_met_by_an_attribute_by_metadata_or_by_the_object(
    key: str, wanted: Any, *, is_met: bool
) -> None:
    instance = SimpleNamespace(is_fast=True, speed=3, team="south", cities=["Oslo", "Bergen"])
    metadata = {"team": "north", "levels": [1, 2], "category": "other"}
    fields = {"category": "storage", "tags": ("io", "read"), "metadata": metadata}
    assert meets({key: wanted}, **fields, instance=instance) is is_met
