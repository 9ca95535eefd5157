from __future__ import annotations

from typing import Annotated, Any, TypeAlias

from sovl_tools import ToolContext
from sovl_tools.signature.inference import Inference, implied
from sovl_tools.signature.signature import from_function


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
