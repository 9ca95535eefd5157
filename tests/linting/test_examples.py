"""Whatever a manifest says of its examples, they can be listed."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from sovl_tools.linting.examples import GROUPS, LIMIT, Example, examples_of
from sovl_tools.loading.pipeline import load_folder
from sovl_tools.model.folder import Settings, ToolFolder
from tests.conftest import code_of, manifest_of
from tests.schema.strategies import moderate
from tests.tables import check_each

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=4,
)
example = st.fixed_dictionaries(
    {"input": values | st.just({"text": "a"})},
    optional={
        "output": values,
        "output_is": values | st.just("description"),
        "output_match": values | st.sampled_from(["exact", "schema"]),
    },
)


def listed(**keys: Any) -> list[Example]:
    with TemporaryDirectory() as root:
        folder = Path(root, "echo")
        folder.mkdir()
        (folder / "echo.json").write_text(json.dumps(manifest_of("echo", **keys)))
        (folder / "echo.py").write_text(code_of("echo"))
        tool = ToolFolder("echo", str(folder), str(folder))
        return examples_of(load_folder(tool, Settings(imports=False)))


@settings(moderate)
@given(
    examples=values | st.lists(values | example, max_size=3),
    execution=values | st.fixed_dictionaries({"timeout": values}),
    annotations=values | st.dictionaries(st.sampled_from([*GROUPS.values()]), values),
    enabled=values,
    output_schema=values,
)
def test_each_is_run_skipped_or_broken(examples: Any, **keys: Any) -> None:
    for each in listed(examples=examples, **keys):
        assert each.name == "load" or each.document == examples[each.number]
        assert 0 < each.limit <= 86_400
        assert bool(each.problem) == (each.name == "load")
        assert each.skipped or each.problem or isinstance(each.arguments, dict)


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
