"""Constraints of the package annotated-types."""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal
from typing import Annotated, Any

import pytest

from tests.annotations.strategies import defined
from tests.annotations.test_agreement import taking
from tests.annotations.test_mapping import DATE, DURATION, INTEGER, NULL, STRING, kinds
from tests.tables import check_each

library = pytest.importorskip("annotated_types")
Ge, Gt, Le, Lt = library.Ge, library.Gt, library.Le, library.Lt
Len, MinLen, MaxLen = library.Len, library.MinLen, library.MaxLen
NUMBER = {"type": "number"}

CONSTRAINED: list[tuple[Any, Any]] = [
    (Annotated[int, Ge(1)], {**INTEGER, "minimum": 1}),
    (Annotated[float, Le(0.5)], {**NUMBER, "maximum": 0.5}),
    (Annotated[int, library.MultipleOf(5)], {**INTEGER, "multipleOf": 5}),
    (
        Annotated[int, library.Interval(ge=1, lt=9)],
        {**INTEGER, "minimum": 1, "exclusiveMaximum": 9},
    ),
    (Annotated[int, Ge(1), Ge(5), Ge(1)], {**INTEGER, "minimum": 1, "allOf": [{"minimum": 5}]}),
    (Annotated[int | str, Ge(1), MinLen(2)],
     {"anyOf": [INTEGER, STRING], "minimum": 1, "minLength": 2}),
    (Annotated[str, Len(2, 4), "a code"],
     {**STRING, "minLength": 2, "maxLength": 4, "description": "a code"}),
    (Annotated[kinds.List[int], MinLen(1)], {"type": "array", "items": INTEGER, "minItems": 1}),
    (Annotated[kinds.Dict[str, int], MaxLen(3)],
     {"type": "object", "additionalProperties": INTEGER, "maxProperties": 3}),
    (Annotated[Decimal, Gt(Decimal("0.5"))], {**NUMBER, "exclusiveMinimum": 0.5}),
    (kinds.List[Annotated[Decimal | None, Ge(1)]],
     {"type": "array", "items": {"anyOf": [NUMBER, NULL], "minimum": 1}}),
    (Annotated[timedelta, Ge(5)],
     {**NUMBER, "minimum": 5, "maximum": DURATION["maximum"]}),
    (Annotated[int, library.doc("how many")], {**INTEGER, "description": "how many"}),
]  # fmt: skip


@check_each(("annotation", "schema"), CONSTRAINED, ids=range(len(CONSTRAINED)))
def test_constraints_become_keywords(annotation: Any, schema: Any) -> None:
    function, _ = taking(annotation)
    inference = defined(function)
    assert inference.parameters["properties"] == {"value": schema}
    assert inference.remarks == ()


UNCHECKED: list[tuple[Any, Any]] = [
    (Annotated[date, Ge(date(2026, 1, 31))], DATE),
    (Annotated[int, library.Predicate(abs)], INTEGER),
    (Annotated[int, MinLen(1)], INTEGER),
]


@check_each(("annotation", "schema"), UNCHECKED, ids=range(len(UNCHECKED)))
def test_a_constraint_without_keyword_is_told(annotation: Any, schema: Any) -> None:
    function, _ = taking(annotation)
    inference = defined(function)
    assert inference.parameters["properties"] == {"value": schema}
    [(name, message)] = inference.remarks
    assert name == "value"
    assert message.startswith("the constraint ")
    assert message.endswith(" is not checked")
