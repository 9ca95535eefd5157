"""Whatever a manifest says of its examples, they can be listed."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from sovl_tools.linting.examples import LIMIT, Example, examples_of
from sovl_tools.loading.pipeline import load_folder
from sovl_tools.model.folder import Settings, ToolFolder
from tests.conftest import code_of, manifest_of
from tests.tables import check_each


def listed(**keys: Any) -> list[Example]:
    with TemporaryDirectory() as root:
        folder = Path(root, "echo")
        folder.mkdir()
        (folder / "echo.json").write_text(json.dumps(manifest_of("echo", **keys)))
        (folder / "echo.py").write_text(code_of("echo"))
        tool = ToolFolder("echo", str(folder), str(folder))
        return examples_of(load_folder(tool, Settings(imports=False)))


@check_each(
    ("execution", "limit"),
    [
        ({}, LIMIT),
        ({"timeout": 5}, 5),
        ({"timeout": 10**400}, 86_400),
        ({"timeout": 1e300}, 86_400),
    ],
)
def test_the_manifest_limits_its_examples(execution: dict[str, Any], limit: float) -> None:
    [found] = listed(examples=[{"input": {"text": "a"}}], execution=execution)
    assert found.limit == limit
