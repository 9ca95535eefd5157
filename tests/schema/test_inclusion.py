"""Whether a schema admits all that another one does."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from sovl_tools.model.errors import SchemaError
from sovl_tools.schema.engine import compile_schema
from sovl_tools.schema.inclusion import narrowings
from sovl_tools.schema.subschemas import nodes
from tests.schema.strategies import examples, likely, moderate, plain_schemas, schemas, values


@st.composite
def edited(draw: st.DrawFn, known: st.SearchStrategy[Any]) -> tuple[Any, Any]:
    """Return a schema, and the same after an edit or two."""
    first = draw(known)
    second = copy.deepcopy(first)
    for _ in range(draw(st.integers(0, 2))):
        places = [each.schema for each in nodes(second, ())] if isinstance(second, dict) else []
        if not places:
            break
        place, other = draw(st.sampled_from(places)), draw(known)
        if draw(st.booleans()) and place:
            del place[draw(st.sampled_from(sorted(place)))]
        elif isinstance(other, dict) and other:
            key = draw(st.sampled_from(sorted(other)))
            place[key] = copy.deepcopy(other[key])
    return (first, second) if draw(st.booleans()) else (second, first)


def admits(schema: Any, value: Any) -> bool | None:
    try:
        return compile_schema(schema).is_valid(value)
    except SchemaError:
        return None


@settings(moderate, max_examples=examples(6000))
@given(st.data(), edited(plain_schemas) | edited(schemas) | st.tuples(schemas, schemas))
@example(None, ({}, {"not": {}}))
def test_what_one_schema_admits_the_other_does_unless_it_is_told(
    data: Any, pair: tuple[Any, Any]
) -> None:
    wide, narrow = pair
    if narrowings(wide, narrow) or data is None:
        return
    drawn = st.lists(likely(wide) | likely(narrow) | values, min_size=5, max_size=20)
    try:
        found = data.draw(drawn)
    except TypeError:  # nothing is likely for a schema of keywords that don't suit its type
        found = data.draw(st.lists(values, min_size=5, max_size=20))
    for value in found:
        if admits(wide, value):
            assert admits(narrow, value) is not False, value
