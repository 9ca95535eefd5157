"""What a function's signature says about its arguments."""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import date
from enum import Enum
from typing import Annotated, Any, Optional

import pytest

from sovl_tools import InferenceError, ToolContext
from sovl_tools.model.errors import UnresolvedReferenceError
from sovl_tools.signature.inference import infer
from tests.annotations.strategies import Color
from tests.tables import check_each

DATE = {"type": "string", "format": "date"}
INTEGER = {"type": "integer"}
STRING = {"type": "string"}


def properties(function: Callable[..., Any], **options: Any) -> dict[str, Any]:
    found: dict[str, Any] = infer(function, **options).parameters["properties"]
    return found


def weather(  # noqa: PLR0913 - a rich one
    city: str,
    day: date | None,
    units: Color = Color.RED,
    *,
    hours: int = 24,
    detail: Annotated[bool, "whether to tell all"],
    note: Optional[str] = None,  # noqa: UP045 - old code
) -> list[str]:
    """Tell the weather.

    Args:
        city: Where.
        detail: Not this.
    """
    return [city]


def test_further_keywords_are_admitted_where_the_function_takes_them() -> None:
    def anything(**options):  # type: ignore[no-untyped-def]  # noqa: ANN003, ANN202
        """Do it.

        Args:
            **options: All there is.
        """

    def any_type(**options: Any) -> None: ...
    def numbers(city: str, **counts: int) -> None: ...

    assert infer(anything).parameters["additionalProperties"] is True
    assert infer(anything).warnings == ()
    assert infer(any_type).parameters["additionalProperties"] is True
    inference = infer(numbers)
    assert inference.parameters["additionalProperties"] == INTEGER
    assert inference.parameters["properties"] == {"city": STRING}
    assert inference.types == {"city": str}


def test_the_context_is_no_part_of_the_schema() -> None:
    def plain(city: str, context: ToolContext) -> None: ...
    def optional(city: str, context: ToolContext | None = None) -> None: ...
    def described(city: str, context: Annotated[Optional[ToolContext], "it"] = None) -> None: ...  # noqa: UP045 - old code
    def text(city: str, context: ToolContext) -> None: ...

    text.__annotations__["context"] = "not_imported.ToolContext | None"
    plain.__annotations__["context"] = ToolContext
    for function in (plain, optional, described, text):
        assert properties(function) == {"city": STRING}
        assert infer(function).types == {"city": str}


class Kind(Enum):
    A = "a"


class Agent:
    class Layer(Enum):
        ROADS = "roads"

    date = "an attribute of the name of an import"

    def method(self, layer: Layer, day: date) -> Agent: ...  # type: ignore[empty-body, valid-type]

    def positional(self, /, layer: Layer) -> None: ...

    def __call__(self, layer: Layer) -> None: ...

    @classmethod
    def create(cls, layer: Layer) -> None: ...

    @staticmethod
    def static(kind: Kind) -> None: ...

    def nobody() -> None: ...  # type: ignore[misc]

    def anybody(*everybody: Agent) -> None: ...


LAYER = {**STRING, "enum": ["roads"]}


class Busy(Agent):
    """One that inherits its methods."""


def test_a_method_is_described_without_its_instance() -> None:
    wanted = {"layer": LAYER, "day": DATE}
    assert properties(Agent.method, is_method=True) == wanted
    assert properties(Agent().method) == properties(Busy().method) == wanted
    assert properties(Agent.positional, is_method=True) == {"layer": LAYER}
    assert properties(Agent.create) == properties(Agent()) == {"layer": LAYER}
    assert properties(Agent.static) == {"kind": {**STRING, "enum": ["a"]}}


def marked(city: str) -> None: ...


marked._tool_definition = "something"  # type: ignore[attr-defined]


class Odd:
    __signature__ = "none"

    def __call__(self) -> None: ...


def _positional(city: str, /) -> None: ...
def _several(*cities: str) -> None: ...
def _rest(**strangers: Odd) -> None: ...


UNFIT: list[tuple[Any, str | None, str]] = [
    (_positional, "city", "_positional: 'city': positional-only; remove the '/': "),
    (_several, "cities", "_several: 'cities': '*cities' never receives anything; remove it, or "),
]


@check_each(("function", "parameter", "words"), UNFIT, ids=range(len(UNFIT)))
def test_what_can_t_be_called_by_keyword_is_an_error(
    function: Any, parameter: str | None, words: str
) -> None:
    with pytest.raises(InferenceError) as caught:
        infer(function)
    error = caught.value
    assert str(error).startswith(words)
    assert error.parameter == parameter
    assert isinstance(error, TypeError)
    assert not isinstance(error, UnresolvedReferenceError)


# the names of these annotations are nowhere, or not yet
def lost(city: str, place: list[Nowhere]) -> Nowhere: ...  # type: ignore[name-defined]  # noqa: F821
def module(place: sys.Nowhere) -> None: ...  # type: ignore[name-defined]
def waiting(place: Optional[Tomorrow]) -> None: ...  # type: ignore[name-defined]  # noqa: F821, UP045


def test_a_name_that_is_not_defined_can_be_waited_for() -> None:
    with pytest.raises(UnresolvedReferenceError) as caught:
        infer(lost)
    assert caught.value.parameter == "place"
    words = "annotated list[Nowhere], but the name 'Nowhere' is not defined"
    assert caught.value.message == words
    assert type(caught.value.__cause__) is NameError
    with pytest.raises(UnresolvedReferenceError, match="'Nowhere' is not defined"):
        infer(module)
    with pytest.raises(UnresolvedReferenceError, match="'Tomorrow' is not defined"):
        infer(waiting)
    waiting.__globals__["Tomorrow"] = Color
    try:
        assert properties(waiting)["place"]["enum"] == ["red", "blue"]
    finally:
        del waiting.__globals__["Tomorrow"]
