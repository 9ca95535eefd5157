from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sovl_tools.model.diagnostic import ManifestPlace
from sovl_tools.procedures.parse.yaml import MAX_EXPANSION, NotYamlError, load
from tests.schema.strategies import moderate
from tests.tables import check_each


def refused(text: str) -> NotYamlError:
    with pytest.raises(NotYamlError) as caught:
        load(text)
    return caught.value


def refusal(text: str) -> NotYamlError | None:
    try:
        load(text)
    except NotYamlError as error:
        return error
    return None


@check_each(
    ("text", "value"),
    [
        ("[null, Null, NULL, ~, ]", [None, None, None, None]),
        ("a:", {"a": None}),
        ("[true, True, TRUE, false, False, FALSE]", [True, True, True, False, False, False]),
        ("[yes, no, on, off, y, n, tRUE]", ["yes", "no", "on", "off", "y", "n", "tRUE"]),
        ("[0, -1, +12, 010, 0o17, 0x1F, 0xff]", [0, -1, 12, 10, 15, 31, 255]),
        ("[1_000, 0b1, 0o8, 0xg, -0x1, 12:30]", ["1_000", "0b1", "0o8", "0xg", "-0x1", "12:30"]),
        ("[1.5, .5, 1., -0.0, 1e3, 2E-2, +1.5e+1]", [1.5, 0.5, 1.0, -0.0, 1000.0, 0.02, 15.0]),
        ("[., e3, 1e, .e3, inf, nan, .infx]", [".", "e3", "1e", ".e3", "inf", "nan", ".infx"]),
        ("[2001-01-01, =, <<]", ["2001-01-01", "=", "<<"]),
        ("""['1', "true", '', "~"]""", ["1", "true", "", "~"]),
        ("<<: {a: 1}\nb: 2", {"<<": {"a": 1}, "b": 2}),
        ("? a\n: 1\n? b", {"a": 1, "b": None}),
        ("a: |\n  x\n  y\nb: >-\n  x\n  y", {"a": "x\ny\n", "b": "x y"}),
        ("text: Hello {{ name }}!", {"text": "Hello {{ name }}!"}),
        (r'"\ud83d\ude00 \/ \x41"', "\U0001f600 / A"),
        ("a: 1\r\nb: 2", {"a": 1, "b": 2}),
    ],
)  # fmt: skip
def test_scalars_mean_what_the_core_schema_says(text: str, value: Any) -> None:
    assert json.dumps(load(text).value) == json.dumps(value)


@check_each(
    ("text", "offset", "message"),
    [
        ("a: .inf", 3, ".inf is not a JSON number; quote it if it is text"),
        ("a: .NaN", 3, ".NaN is not a JSON number; quote it if it is text"),
        ("a: 1e999", 3, "1e999 is not a JSON number"),
        ("a: " + "9" * 5000, 3, f"{'9' * 40} is not a JSON number"),
        (r'a: "\ud83d"', 3, "the string contains half of a surrogate pair"),
        ("? \n: x", 1, "a key must be a string"),
        ("? [a]\n: b", 2, "a key must be a string"),
        ("a: {{ x }}", 3, 'a template without quotes is a mapping; put it in quotes: "{{ … }}"'),
        ("a: 1\nb: 2\na: 3", 10, "the key 'a' appears a second time"),
        ("a: !x 1", 3, "the tag '!x' has no meaning here; remove it"),
        (
            "!!python/object:os.system a",
            0,
            "the tag 'tag:yaml.org,2002:python/object:os.system' has no meaning",
        ),
        ("a\n---\nb", 2, "a second document begins here; keep one in a file"),
        ("# nothing\n", 0, "the file is empty"),
    ],
)
def test_what_json_has_not_is_refused_at_its_place(text: str, offset: int, message: str) -> None:
    error = refused(text)
    told = f"{error.message}; {error.help}" if error.help else error.message
    assert error.offset == offset
    assert told.startswith(message)


@check_each(
    ("text", "offset", "message"),
    [
        ("a:\n\t- b", 3, "a tab is where only spaces can be"),
        ("a: @b", 3, "no value can begin with this character"),
        ("a: b: c", 4, "a colon makes no sense here"),
        (r'a: "\UFFFFFFFF"', 0, "an escape or a number is too large"),
        ("a:\n  - b\n c: d", 10, "this does not belong to the lines above"),
        ("[1", 2, "this is not YAML: expected ',' or ']', but got '<stream end>'"),
    ],
)
def test_mistakes_are_told_in_one_sentence(text: str, offset: int, message: str) -> None:
    error = refused(text)
    assert error.offset == offset
    assert error.message.startswith(message)


@moderate
@given(st.text("ab:- \n\t[]{},'\"|>&*!%#?@\\", max_size=30))
def test_any_text_is_read_or_refused_at_a_place_in_it(text: str) -> None:
    error = refusal(text)
    assert error is None or 0 <= error.offset <= len(text)
    assert error is None or "\n" not in error.message


def test_an_alias_is_a_copy() -> None:
    value = load("a: &x [1]\nb: *x\nc: &k key\n*k : 2").value
    assert value == {"a": [1], "b": [1], "c": "key", "key": 2}
    value["a"].append(2)
    assert value["b"] == [1]


def test_an_alias_stands_where_it_is_and_its_parts_at_the_anchor() -> None:
    text = "a: &x {k: [1, 2]}\nb: *x"
    spot = load(text)
    assert spot.find(ManifestPlace(("b",))) == text.index("*x")
    assert spot.find(ManifestPlace(("b",), "key")) == text.index("b:")
    assert spot.find(ManifestPlace(("b", "k", 1))) == text.index("2]")


@check_each("text", ["&a [*a]", "- &name 1\n- *a"])
def test_aliases_stand_for_what_is_complete(text: str) -> None:
    assert refused(text).message == "no value with the anchor 'a' ends before this"


def test_aliases_may_stand_for_so_many_values_and_not_one_more() -> None:
    hundred = "- &a [" + "1," * 98 + "1]\n"
    times = MAX_EXPANSION // 100
    assert len(load(hundred + "- *a\n" * times).value) == times + 1
    error = refused(hundred + "- *a\n" * (times + 1))
    assert error.message == "the aliases up to here repeat more than 10,000 values"
    assert error.offset == len(hundred) + 5 * times + 2


def test_a_billion_laughs_are_refused_at_the_first_ten_thousand() -> None:
    lines = ["a0: &a0 [" + "ha, " * 9 + "ha]"]
    lines += [f"a{n}: &a{n} [" + f"*a{n - 1}, " * 9 + f"*a{n - 1}]" for n in range(1, 100)]
    text = "\n".join(lines)
    assert text.index("a3:") < refused(text).offset < text.index("a4:")


def test_aliases_do_not_nest_deeper_than_what_is_written() -> None:
    fifty = "- &a " + "[" * 50 + "]" * 50 + "\n"
    deepest = "- " + "[" * 49 + "*a" + "]" * 49
    assert load(fifty + deepest).value
    assert "levels deep" in refused(fifty + deepest.replace("*a", "[*a]")).message
