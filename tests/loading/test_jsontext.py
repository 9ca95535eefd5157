from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from sovl_tools.loading.jsontext import Places, line_and_column, members, too_deep_at
from sovl_tools.model.diagnostic import ManifestPlace
from sovl_tools.model.document import depth
from tests.schema.strategies import moderate, scalars, texts
from tests.tables import check_each

keys = texts | st.text('"\\/{}[]:,\n', max_size=4)
documents = st.recursive(
    scalars | keys,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
    max_leaves=8,
)
blanks = st.text(" \t\n\r", max_size=2)


@st.composite
def dumped(draw: st.DrawFn) -> tuple[Any, str]:
    """Return a document and a string of it, in one of many styles."""
    document = draw(documents)
    comma, colon = [draw(blanks) + sign + draw(blanks) for sign in ",:"]
    text = json.dumps(
        document,
        indent=draw(st.none() | st.integers(0, 3) | st.just("\t")),
        separators=(comma, colon) if draw(st.booleans()) else None,
        ensure_ascii=draw(st.booleans()),
    )
    return document, draw(blanks) + text + draw(blanks)


broken = st.text('{}[]:,"\\ 1at\n', max_size=30) | st.tuples(
    dumped(), st.integers(0, 40), st.integers(0, 5)
).map(lambda cut: cut[0][1][: cut[1]] + cut[0][1][cut[1] + cut[2] :])
paths = st.lists(st.integers(0, 2) | st.sampled_from(["a", "1", ""]), max_size=3).map(tuple)


def places(
    value: Any, path: tuple[str | int, ...] = ()
) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """Yield every value of a document with its path."""
    yield path, value
    pairs = value.items() if isinstance(value, dict) else ()
    for key, child in enumerate(value) if isinstance(value, list) else pairs:
        yield from places(child, (*path, key))


def parsed_at(text: str, offset: int) -> Any:
    """Return what a parser reads at an offset, as text: NaN isn't a value, and 1 is not true."""
    return json.dumps(json.JSONDecoder().raw_decode(text, offset)[0])


@moderate
@given(dumped())
def test_the_offset_of_a_path_is_that_of_its_value(style: tuple[Any, str]) -> None:
    document, text = style
    for path, value in places(document):
        assert parsed_at(text, Places(text).offset(ManifestPlace(path))) == json.dumps(value)


@moderate
@given(dumped())
def test_the_offset_of_a_key_is_that_of_its_string(style: tuple[Any, str]) -> None:
    document, text = style
    for path, value in places(document):
        at = parsed_at(text, Places(text).offset(ManifestPlace(path, "key")))
        is_key = bool(path) and isinstance(path[-1], str)
        assert at == json.dumps(path[-1] if is_key else value)


@moderate
@given(dumped())
def test_every_value_is_a_member_once(style: tuple[Any, str]) -> None:
    document, text = style
    found = list(members(text))
    assert [member.path for member in found] == [path for path, _ in places(document)]
    assert not [member for member in found if member.repeated or member.occurrence != 1]


@check_each(("occurrence", "value"), [(1, "1"), (2, "2"), (3, "3"), (0, "3")])
def test_a_key_that_stands_more_than_once_is_told_apart(occurrence: int, value: str) -> None:
    text = '{"a": 1, "a": 2, "a": 3}'
    offset = Places(text).offset(ManifestPlace(("a",), "key", occurrence))
    assert text[offset : offset + 6] == f'"a": {value}'


@moderate
@given(broken, paths, st.sampled_from(["key", "value"]), st.integers(0, 1))
def test_broken_text_is_read_as_far_as_it_makes_sense(
    text: str, path: tuple[str | int, ...], of: str, occurrence: int
) -> None:
    place = ManifestPlace(path, "key" if of == "key" else "value", occurrence)
    assert 0 <= Places(text).offset(place) <= len(text)
    assert all(text.startswith(member.token, member.offset) for member in members(text))


@moderate
@given(st.text("ab\n\r\u2028é", max_size=12), st.data())
def test_line_and_column_lead_back_to_the_offset(text: str, data: st.DataObject) -> None:
    offset = data.draw(st.integers(0, len(text)))
    line, column = line_and_column(text, offset)
    before = text.split("\n")[: line - 1]
    assert sum(len(each) + 1 for each in before) + column - 1 == offset
    assert column <= len(text.split("\n")[line - 1]) + 1


@moderate
@given(dumped(), st.integers(0, 4))
def test_what_is_too_deep_is_found_in_the_text(style: tuple[Any, str], limit: int) -> None:
    document, text = style
    offset = too_deep_at(text, limit)
    assert (offset is None) == (depth(document) <= limit)
    assert offset is None or text[offset] in "{["


@moderate
@given(broken, st.integers(0, 3))
def test_depth_is_found_in_broken_text_too(text: str, limit: int) -> None:
    offset = too_deep_at(text, limit)
    assert offset is None or text[offset] in "{["


def test_a_bracket_in_a_string_is_no_depth() -> None:
    assert too_deep_at(r'["[[[\"[["]', 1) is None
