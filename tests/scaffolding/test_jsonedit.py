from __future__ import annotations

import json
import re
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from sovl_tools.scaffolding.jsonedit import (
    Node,
    edit_json,
    parse_nodes,
    without_comments,
)
from tests.scaffolding.strategies import changed, commented_texts_of, documents, texts_of
from tests.schema.strategies import moderate, values
from tests.tables import check_each


def canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def slices(node: Node, text: str, path: tuple[str, ...] = ()) -> dict[tuple[str, ...], str]:
    """Return the text of each value that is reached through objects alone."""
    found = {path: text[node.start : node.end]}
    for child in node.children:
        if child.key is not None:
            found |= slices(child.value, text, (*path, child.key))
    return found


@moderate
@given(st.data())
def test_the_text_says_what_the_document_says(data: st.DataObject) -> None:
    before = data.draw(documents)
    after = data.draw(changed(before) | documents)
    text = data.draw(texts_of(before))
    new = edit_json(text, after)
    assert canonical(json.loads(new)) == canonical(after)
    assert edit_json(new, after) == new
    assert edit_json(text, before) == text


@moderate
@given(st.data())
def test_what_is_the_same_stays_as_it_is_written(data: st.DataObject) -> None:
    before = data.draw(documents)
    after = data.draw(changed(before))
    text = data.draw(texts_of(before))
    new = edit_json(text, after)
    old_slices, new_slices = slices(parse_nodes(text), text), slices(parse_nodes(new), new)
    shared = [
        path
        for path in old_slices.keys() & new_slices.keys()
        if canonical(json.loads(old_slices[path])) == canonical(json.loads(new_slices[path]))
    ]
    assert [path for path in shared if old_slices[path] != new_slices[path]] == []


def comments(text: str) -> list[str]:
    return [
        each[0]
        for each in re.finditer(r'"(?:[^"\\]|\\.)*"|//.*|/\*[^*]*\*/', text)
        if each[0][0] == "/"
    ]


@moderate
@given(st.data())
def test_comments_stay_where_members_come_and_go(data: st.DataObject) -> None:
    before = data.draw(documents)
    text = data.draw(commented_texts_of(before))
    assert canonical(json.loads(without_comments(text))) == canonical(before)
    assert edit_json(text, before) == text
    longer = edit_json(text, {**before, "new": data.draw(values), "n": 1})
    assert [*json.loads(without_comments(longer))] == [*before, "new", "n"]
    assert comments(longer) == comments(text)
    shorter = edit_json(longer, before)
    assert canonical(json.loads(without_comments(shorter))) == canonical(before)
    assert comments(shorter) == comments(text)
    after = data.draw(changed(before))
    assert canonical(json.loads(without_comments(edit_json(text, after)))) == canonical(after)


@check_each(
    ("text", "longer"),
    [
        ('{\n  "a": 1 // a\n  // end\n}', '{\n  "a": 1, // a\n  "n": 1\n  // end\n}'),
        ('{\n  "a": 1, // a\n}', '{\n  "a": 1, // a\n  "n": 1,\n}'),
        ('{ // a\n\t"a": 1\n}', '{ // a\n\t"a": 1,\n\t"n": 1\n}'),
        ('{"a": 1 /* a */}', '{"a": 1, /* a */ "n": 1}'),
        ('{"a": 1,}', '{"a": 1, "n": 1,}'),
        ("{\n  // nothing\n}", '{\n  // nothing\n  "n": 1\n}'),
        (
            '{\r\n  "a": 1, // a\r\n  "b": 2\r\n}',
            '{\r\n  "a": 1, // a\r\n  "b": 2,\r\n  "n": 1\r\n}',
        ),
    ],
)
def test_a_member_that_goes_again_leaves_the_text_as_it_was(text: str, longer: str) -> None:
    before = json.loads(without_comments(text))
    assert edit_json(text, {**before, "n": 1}) == longer
    assert edit_json(longer, before) == text


@check_each(
    ("text", "document", "expected"),
    [
        ('{"a":1}', {"a": 1, "b": [1, 2]}, '{"a":1,"b":[1,2]}'),
        ('{"a": 1}', {"b": 2, "a": 1}, '{"b": 2, "a": 1}'),
        ('{ "a": 1 }', {"a": 1, "b": {"c": 2}}, '{ "a": 1, "b": {"c": 2} }'),
        ('{\n\t"a": 1\n}\n', {"a": 1, "b": 2}, '{\n\t"a": 1,\n\t"b": 2\n}\n'),
        ('{\r\n  "a": 1\r\n}', {"a": 1, "b": 2}, '{\r\n  "a": 1,\r\n  "b": 2\r\n}'),
        ('{\n  "a": [1]\n}', {"a": [0, 1, 2]}, '{\n  "a": [0, 1, 2]\n}'),
        ('{"a": 1, "b": 2,\n "c": 3}', {"a": 1, "c": 3}, '{"a": 1,\n "c": 3}'),
        ("{}", {"a": {"b": {"c": 1}}}, '{\n  "a": {\n    "b": {"c": 1}\n  }\n}'),
        ('{"a": "\u00e9"}', {"a": "\u00e9", "b": "\u00e8"}, '{"a": "\u00e9", "b": "\u00e8"}'),
        ('{"a": 1}', {"a": True}, '{"a": true}'),
    ],
)  # fmt: skip
def test_new_text_is_in_the_manner_of_the_old(text: str, document: Any, expected: str) -> None:
    assert edit_json(text, document) == expected
