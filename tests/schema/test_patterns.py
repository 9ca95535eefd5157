"""Patterns as ECMA-262 has them, for both engines."""

from __future__ import annotations

from contextlib import suppress
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sovl_tools.model.errors import SchemaError
from sovl_tools.schema import python_engine as python
from sovl_tools.schema import rust_engine as rust
from sovl_tools.schema.engine import compile_with, pattern_problem
from sovl_tools.schema.patterns import oddity, translated
from tests.schema.strategies import moderate
from tests.tables import check_each

# as node says
ACCEPTED = [
    (r"^[\w-\.]+@([\w-]+\.)+[\w-]{2,4}$", ["a.b-c@d.org"], ["a@b", "@d.org"]),
    (r"[\d-x]", ["5", "-", "x"], ["y"]),
    (r"^a{$", ["a{"], ["a"]),
    (r"^a{,3}$", ["a{,3}"], ["a", "aa"]),
    (r"^\e\h\_\Z$", ["eh_Z"], ["e"]),
    (r"^[^]$", ["a", "\n"], ["", "ab"]),
    (r"[]", [], ["", "a"]),
    (r"^(?<n>a)\1$", ["aa"], ["a"]),
    (r"^\0[\b]\cA$", ["\x00\x08\x01"], [""]),
]
each_engine = pytest.mark.parametrize(
    "engine", [pytest.param(rust, id="rust"), pytest.param(python, id="python")]
)


@each_engine
@check_each(("pattern", "found", "missed"), ACCEPTED)
def test_a_pattern_means_what_ecma_262_says(
    engine: ModuleType, pattern: str, found: list[str], missed: list[str]
) -> None:
    is_valid = compile_with(engine, {"pattern": translated(pattern)}).is_valid
    assert [text for text in found if not is_valid(text)] == []
    assert [text for text in missed if is_valid(text)] == []
    assert pattern_problem(pattern) is None


@check_each(
    ("pattern", "reason", "advice"),
    [
        ("*.txt", "there's nothing to repeat", r"write ^.*\.txt$"),
        ("(?>a)b", "ECMA-262 has no group '(?>'", "write (?:a)b"),
        ("a(?#note)", "ECMA-262 has no group '(?#'", "write a"),
        ("[z-a]", "bad character range z-a (character 2)", None),
        (r"\w[\w-.](", "missing ), unterminated subpattern (character 10)", None),
        (r"(?<n>a)\k<n>", "the engine can't use it", None),
    ],
)
def test_an_invalid_pattern_is_explained(pattern: str, reason: str, advice: str | None) -> None:
    assert pattern_problem(pattern) == (reason, advice)


@check_each(
    ("pattern", "words", "advice"),
    [
        (r"^a\Z", "is a letter", "write $"),
        (r"\Aa", "is a letter", "write ^"),
        (r"\Qa.b\E", "is a letter", "backslash before each"),
        ("a{,3}", "is plain text", "write {0,3}"),
        ("[[:digit:]]", "isn't a class", "write 0-9"),
        ("/^[a-z]+$/", "the slashes are a part", "write ^[a-z]+$"),
    ],
)
def test_a_pattern_of_another_language_is_told(pattern: str, words: str, advice: str) -> None:
    odd = oddity(pattern)
    assert odd is not None
    assert words in odd[0]
    assert advice in odd[1]


parts = st.sampled_from(
    ["a", "b", "-", ".", r"\w", r"\d", "[", "]", "^", "$", "(", ")", "(?:", "(?=", "|", "*", "+",
     "?", "{", "}", "{2}", "{,3}", ",", r"\-", r"\e", r"\0", r"\b", r"\c", r"\x41", "(?<n>",
     "1", "&", "/"]
)  # fmt: skip


@moderate
@given(st.lists(parts, max_size=7).map("".join), st.text("ab-.1{}[]e", max_size=4))
def test_both_engines_read_a_translated_pattern_alike(pattern: str, text: str) -> None:
    found = []
    for engine in (rust, python):
        with suppress(SchemaError):
            found.append(compile_with(engine, {"pattern": translated(pattern)}).is_valid(text))
    assert len({*found}) < 2
