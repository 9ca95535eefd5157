from __future__ import annotations

from typing import Annotated, Any, TypeAlias

from sovl_tools import ToolContext
from sovl_tools.annotations.kind import InexpressibleError
from sovl_tools.signature.inference import Inference, implied
from sovl_tools.signature.signature import from_function


class Unknown:
    """A type that has no JSON."""


class Shop:
    Context: TypeAlias = ToolContext
    Amount: TypeAlias = Annotated[int, "How many."]

    def order(self, amount: Amount, context: Context) -> None: ...


def implied_by(function: Any) -> Inference:
    return implied(from_function(function), function)


def test_names_of_a_class_are_known_to_the_annotations_of_its_methods() -> None:
    found = implied_by(Shop().order)
    assert found.parameters["properties"] == {
        "amount": {"type": "integer", "description": "How many."}
    }
    assert found.parameters["required"] == ["amount"]
    assert found.described == {"amount"}
    assert not found.errors


def test_of_an_annotation_that_is_known_in_part_that_part_counts() -> None:
    def made(a: list[Missing], b: Unknown, c: int, **rest: Missing) -> None: ...  # type: ignore[name-defined]  # noqa: F821 - that is the point

    found = implied_by(made)
    assert found.parameters["properties"] == {
        "a": {"type": "array", "items": {}},
        "b": {},
        "c": {"type": "integer"},
    }
    assert "additionalProperties" not in found.parameters
    assert [*map(type, found.errors.values())] == [InexpressibleError] * 3
    assert found.errors.keys() == {"a", "b", "rest"}


def test_what_takes_any_keyword_says_so() -> None:
    def made(a: int, **rest: str) -> None: ...
    def bare(**rest: Any) -> None: ...

    assert implied_by(made).parameters["additionalProperties"] == {"type": "string"}
    assert implied_by(bare).parameters == {
        "type": "object", "properties": {}, "required": [], "additionalProperties": True,
    }  # fmt: skip
