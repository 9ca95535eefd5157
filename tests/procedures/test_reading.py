from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import yaml
from hypothesis import assume, given
from hypothesis import strategies as st

from sovl_tools.procedures.errors import UnreadableError
from sovl_tools.procedures.parse.files import read
from sovl_tools.procedures.procedure import MAX_BYTES
from tests.schema.strategies import moderate, texts, values
from tests.tables import check_each

# Without a blank, at which a long line could be folded.
MARKER = "MARKER"
# YAML 1.1, which PyYAML writes, has fewer numbers than 1.2, and writes these without quotes.
NUMBERLIKE = re.compile(r"[-+]?(\.\d+|\d+(\.\d*)?)([eE][-+]?\d+)?|0o[0-7]+")
# What PyYAML and json write as it is, and YAML 1.2 refuses or reads otherwise than 1.1.
UNFIT = re.compile("[\x7f\x85\u2028\u2029]")
KEYS = texts | st.sampled_from(["on", "no", "<<", "=", "12:30", "2001-01-01", "null", "1", "~"])
DOCUMENTS = st.recursive(
    values | KEYS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=6,
)
WRITERS: dict[str, Callable[[Any], str]] = {
    "block": lambda value: yaml.safe_dump(value, sort_keys=False),
    "wide": lambda value: yaml.safe_dump(value, sort_keys=False, allow_unicode=True, indent=4),
    "flow": lambda value: yaml.safe_dump(value, sort_keys=False, default_flow_style=True),
    "quoted": lambda value: yaml.safe_dump(value, sort_keys=False, default_style="'"),
    "explicit": lambda value: yaml.safe_dump(value, explicit_start=True, sort_keys=False),
    "windows": lambda value: yaml.safe_dump(value, sort_keys=False, line_break="\r\n"),
    "json": json.dumps,
    "indented json": lambda value: json.dumps(value, indent=2),
}
written_by = st.sampled_from(sorted(WRITERS))


def strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for key, child in children(value):
        yield from strings(key)
        yield from strings(child)


def children(value: Any) -> list[tuple[str | int, Any]]:
    if isinstance(value, dict):
        return list(value.items())
    return list(enumerate(value)) if isinstance(value, list) else []


def paths(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    yield path
    for key, child in children(value):
        yield from paths(child, (*path, key))


def replaced(value: Any, path: tuple[str | int, ...], new: Any) -> Any:
    if not path:
        return new
    made = value.copy()
    made[path[0]] = replaced(value[path[0]], path[1:], new)
    return made


def marked_place(text: str) -> tuple[int, int]:
    """Return line and column of the marker, and of the quote before it if there is one."""
    offset = text.index(MARKER)
    offset -= text[offset - 1 : offset] in {"'", '"'}
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)


def refused(text: str | bytes, path: str = "a.yaml") -> UnreadableError:
    with pytest.raises(UnreadableError) as caught:
        read(text, path=path)
    return caught.value


@moderate
@given(DOCUMENTS, written_by)
def test_a_document_is_read_as_it_was_written(document: Any, writer: str) -> None:
    assume(not any(NUMBERLIKE.fullmatch(each) for each in strings(document)))
    text = WRITERS[writer](document)
    assume(not UNFIT.search(text))
    found = read(text, path="a.yaml").value
    assert json.dumps(found) == json.dumps(document)


@moderate
@given(DOCUMENTS, written_by, st.data())
def test_the_place_of_a_value_is_where_it_stands(
    document: Any, writer: str, data: st.DataObject
) -> None:
    path = data.draw(st.sampled_from(list(paths(document))))
    text = WRITERS[writer](replaced(document, path, MARKER))
    assume(not UNFIT.search(text))
    assert read(text, path="a.yaml").place(path) == marked_place(text)


def test_an_error_says_where_what_and_what_to_do() -> None:
    error = refused("a: b\nc: [1\n")
    assert (error.line, error.column) == (3, 1)
    assert str(refused("- a\n- b: 1\n  b: 2")) == "3:3: the key 'b' appears a second time"


@check_each("path", ["a.yaml", "a.json"])
@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"\xff\xfe{\x00", "1:1: the file is UTF-16; save it as UTF-8"),
        (b'{"a":\n "\xe9"}', "2:3: byte 0xe9 is not UTF-8; save the file as UTF-8"),
        ("\ud83d", "1:1: byte 0xed is not UTF-8; save the file as UTF-8"),
        (" \n", "1:1: the file is empty"),
        ("x" * (MAX_BYTES + 1), "1:1: the text has more than 1,048,576 bytes"),
        ('"' + "é" * (MAX_BYTES // 2) + '"', "1:1: the text has more than 1,048,576"),
        ("[" * 101, "1:101: values are nested more than 100 levels deep"),
        pytest.param(
            "[" * 100_000,
            "1:101: values are nested more than 100 levels deep",
            marks=pytest.mark.unmeasured,
        ),
    ],
)
def test_some_texts_are_refused_whatever_they_should_be(
    path: str, text: str | bytes, message: str
) -> None:
    assert message in str(refused(text, path))


@check_each(
    ("text", "message"),
    [
        ('{"a": 1,}', "1:8: there is a trailing comma before '}'; remove the comma"),
        ('{"a": 1,\n "a": 2}', "2:2: the key 'a' appears a second time"),
        ("[NaN]", "1:2: NaN is not a JSON number"),
        ("[1e999]", "1:2: 1e999 is not a JSON number"),
        (r'["\ud83d"]', "1:2: the string contains half of a surrogate pair"),
        ("[" * 70 + "1 2" + "]" * 70, "1:73: a comma is missing before this"),
    ],
)
def test_json_is_read_as_strictly_as_manifests_are(text: str, message: str) -> None:
    assert str(refused(text, "a.json")) == message
