"""Many folders at a time."""

from __future__ import annotations

import json
from pathlib import Path
from time import perf_counter

from sovl_tools import ToolRegistry

MANY = 1_500
"""So many properties make a manifest that takes a while to check."""


def write_tool(root: Path, name: str, **properties: object) -> None:
    folder = root / name
    folder.mkdir()
    parameters = {"type": "object", "properties": properties}
    manifest = {"name": name, "description": "Do something.", "parameters": parameters}
    (folder / f"{name}.json").write_text(json.dumps(manifest))
    (folder / f"{name}.py").write_text(f"def {name}(**arguments: object) -> None: ...\n")


def test_checks_that_take_long_together_are_held_against_no_tool(tmp_path: Path) -> None:
    properties = {f"value{each}": {"type": "string", "description": "A."} for each in range(MANY)}
    names = [f"tool_{each:02}" for each in range(40)]
    for each in names:
        write_tool(tmp_path, each, **properties)
    started = perf_counter()
    ToolRegistry.from_directory(tmp_path)
    # the checks ahead of one import take longer than this together, each a small part of it
    limit = (perf_counter() - started) / 3
    registry = ToolRegistry.from_directory(tmp_path, import_timeout=limit)
    assert [each.name for each in registry] == names
