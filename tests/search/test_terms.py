from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sovl_tools.search.words import parts, term
from tests.schema.strategies import moderate
from tests.tables import check_each

lower = st.text("abcdefgxyz", min_size=3, max_size=5)


@check_each(
    ("text", "expected"),
    [
        ("read_file readFile read-file ReadFile", ["read", "file", "readfile"] * 4),
        ("sha256 SHA-256", ["sha", "256", "sha256"] * 2),
        ("__init__ _ - -x-", ["init", "x"]),
        ("don't l\u2019heure", ["don", "t", "l", "heure"]),
        ("Café CAFE\u0301 naïve Straße", ["cafe", "cafe", "naive", "strasse"]),
        ("東京", ["東", "京", "東京"]),
        ("東京、大阪", ["東", "京", "大", "阪", "東京", "大阪"]),
        ("ガ", ["ガ"]),
        ("날씨를 비", ["날씨를", "날씨", "씨를", "비"]),
        ("", []),
        ("…!? 🚀", []),
    ],
)
def test_a_text_is_taken_apart_into_parts_of_words(text: str, expected: list[str]) -> None:
    assert parts(text) == expected


@check_each(
    "forms",
    [
        "translate translates translated translating translation translations",
        "query queries querying queried",
        "run runs running",
        "add adds adding added",
        "format formats formatting formatted",
        "sell sells selling",
        "box boxes",
        "size sizes",
        "day days",
        "file files",
        "status",
    ],
)
def test_the_forms_of_a_word_are_one_term(forms: str) -> None:
    assert len({term(form) for form in forms.split()}) == 1


@check_each(
    ("one", "other"),
    [
        ("news", "new"),
        ("note", "not"),
        ("file", "fill"),
        ("string", "str"),
        ("sing", "s"),
        ("bus", "bu"),
    ],
)
def test_different_words_stay_different_terms(one: str, other: str) -> None:
    assert term(one) != term(other)


@moderate
@given(st.lists(lower, min_size=2, max_size=4))
def test_a_name_has_the_same_parts_however_its_words_are_joined(words: list[str]) -> None:
    expected = [*words, "".join(words)]
    camel = words[0] + "".join(word.capitalize() for word in words[1:])
    for name in ("_".join(words), "-".join(words), camel, camel[0].upper() + camel[1:]):
        assert parts(name) == expected
