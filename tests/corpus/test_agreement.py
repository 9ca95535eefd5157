"""What is valid as a definition can be called with whatever its schema accepts."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

from hypothesis import event, given
from hypothesis import strategies as st

from sovl_tools import (
    AITool,
    InferenceError,
    ToolDefinition,
    Tooler,
    ToolLoadError,
    ToolRegistry,
    tool,
)
from sovl_tools.schema.engine import compile_schema
from tests.schema.strategies import moderate
from tests.schema.test_names import objects

NAMES = "abc"
GIVEN = [dict.fromkeys(each, 1) for size in range(4) for each in combinations(NAMES, size)]

parameters = st.builds(
    lambda taken, rest: ", ".join([*taken, *rest]),
    st.lists(st.sampled_from(NAMES), unique=True).flatmap(
        lambda names: st.tuples(*(st.sampled_from([name, f"{name}=0"]) for name in sorted(names)))
    ),
    st.sampled_from([(), (), ("**others",)]),
).map(lambda text: f"*, {text}" if text[:1] in [*NAMES] else text)


def code(taken: str) -> str:
    return f"def act({taken}):\n    return sorted(locals())\n"


def function_of(taken: str) -> Any:
    namespace: dict[str, Any] = {}
    exec(code(taken), namespace)
    return namespace["act"]


def in_folder(schema: dict[str, Any], taken: str, root: Path) -> ToolRegistry:
    folder = root / "act"
    folder.mkdir()
    manifest = {"name": "act", "description": "Act.", "parameters": schema}
    (folder / "act.json").write_text(json.dumps(manifest))
    (folder / "act.py").write_text(code(taken))
    return ToolRegistry.from_directory(root)


def as_definition(schema: dict[str, Any], taken: str, _root: Path) -> ToolRegistry:
    registry = ToolRegistry()
    registry.register(ToolDefinition("act", "Act.", schema, function_of(taken)))
    return registry


def as_class(schema: dict[str, Any], taken: str, _root: Path) -> ToolRegistry:
    class Act(AITool):
        name = "act"
        description = "Act."
        parameters_schema = schema
        execute = staticmethod(function_of(taken))

    registry = ToolRegistry()
    registry.register(Act())
    return registry


def as_decorated(schema: dict[str, Any], taken: str, _root: Path) -> ToolRegistry:
    properties = schema.get("properties", {})
    fragments = {name: properties.get(name, {}) for name in properties}
    registry = ToolRegistry()
    registry.register(tool(name="act", description="Act.", params=fragments)(function_of(taken)))
    return registry


@moderate
@given(objects, parameters, st.sampled_from([in_folder, as_definition, as_class, as_decorated]))
def test_a_valid_tool_takes_what_its_schema_accepts(
    schema: dict[str, Any],
    taken: str,
    made: Callable[[dict[str, Any], str, Path], ToolRegistry],
) -> None:
    schema = {"properties": {}, **schema, "type": "object"}
    with tempfile.TemporaryDirectory() as root:
        try:
            registry = made(schema, taken, Path(root))
        except (ToolLoadError, InferenceError) as error:
            event(type(error).__name__)
            return
        if "act" not in registry:
            return
        event("valid")
        accepted = compile_schema({**registry["act"].parameters, "unevaluatedProperties": False})
        with Tooler(registry) as tooler:
            for given in filter(accepted.is_valid, GIVEN):
                result = tooler.call_sync("act", given)
                assert result.error is None, (given, result.error)
