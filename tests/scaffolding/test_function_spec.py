from __future__ import annotations

from typing import Any

import pytest

from sovl_tools import InferenceError, tool
from sovl_tools.loading.function_spec import function_spec
from sovl_tools.scaffolding.new_tool import manifest_of, tool_of_function
from tests.scaffolding.test_patching import after, parameters

HALF = "it contains half of a surrogate pair"


@tool(
    name="other",
    title="Other",
    description="By @tool.",
    params={"a": {"minimum": 3}},
    param_descriptions={"a": "The a."},
    required=["a", "b"],
    tags=["t"],
    category="c",
    version="1.0",
    instructions="Mind it.",
    activation_phrases=["do it"],
    examples=[{"input": {"a": 3, "b": 1}}],
    annotations={"read_only": True},
    output_schema={"type": "object"},
    execution={"timeout": 5},
    requires={"env": ["HOME"]},
    metadata={"x": (1, 2)},
)
def decorated(a: int, b: int = 1) -> int:
    """Do it.

    Args:
        b: The b.
    """
    return a + b


FIELDS = {
    "examples": [{"input": {"a": 3, "b": 1}}],
    "tags": ["t"],
    "activation_phrases": ["do it"],
    "category": "c",
    "version": "1.0",
    "instructions": "Mind it.",
    "output_schema": {"type": "object"},
    "annotations": {"read_only": True},
    "execution": {"timeout": 5},
    "requires": {"env": ["HOME"]},
    "metadata": {"x": [1, 2]},
}
PARAMETERS = {
    "type": "object",
    "properties": {
        "a": {"type": "integer", "description": "The a.", "minimum": 3},
        "b": {"type": "integer", "description": "The b."},
    },
    "required": ["a", "b"],
}


def test_a_manifest_says_what_the_decorator_does() -> None:
    found = manifest_of("made", function_spec(decorated))
    head = {"name": "made", "title": "Other", "description": "By @tool."}
    assert found == {**head, "parameters": PARAMETERS, **FIELDS}
    assert list(found)[:4] == ["name", "title", "description", "parameters"]


def test_a_manifest_gets_what_the_decorator_says_and_keeps_its_own() -> None:
    document = {**parameters({}), "tags": ["mine"], "execution": {"mode": "thread"}}
    found = after(decorated, document)
    own = {"tags": ["mine"], "execution": {"mode": "thread", "timeout": 5}, "title": "Other"}
    assert found == {**document, **FIELDS, **own, "parameters": PARAMETERS}
    assert after(decorated, found) == found


def refusal(function: Any) -> str:
    with pytest.raises(InferenceError) as caught:
        tool_of_function("made", function, module="m", attribute="f")
    return str(caught.value).partition("<locals>.")[2] or str(caught.value)


def test_a_function_in_a_schema_is_refused_with_its_parameter() -> None:
    @tool(params={"a": {"enum": lambda: ["x"]}, "c": {"default": lambda: 1}})
    def made(a: str, b: int, c: int = 2) -> None: ...

    assert refusal(made).startswith("made: 'a': its schema can't be written: there is a function")
    spec = function_spec(made)
    assert spec.errors.keys() == {"a", "c"}
    assert spec.parameters["properties"].keys() == {"b"}
    assert spec.parameters["required"] == ["b"]


def test_marks_that_no_manifest_can_have_are_refused() -> None:
    @tool(metadata={"when": object()})
    def made(a: str) -> None: ...

    assert "'metadata' can't be written: it holds 'object'" in refusal(made)
    assert "metadata" not in function_spec(made).fields
