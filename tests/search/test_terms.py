from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sovl_tools.search.words import COMMON, parts, term
from tests.schema.strategies import moderate
from tests.tables import check_each

lower = st.text("abcdefgxyz", min_size=3, max_size=5)


@check_each(
    ("text", "expected"),
    [
        ("read_file readFile read-file ReadFile", ["read", "file", "readfile"] * 4),
        ("HTTPServer getHTTP", ["http", "server", "httpserver", "get", "http", "gethttp"]),
        ("PDFs IDs", ["pdfs", "ids"]),
        ("sha256 SHA-256", ["sha", "256", "sha256"] * 2),
        ("csv2json", ["csv", "2", "json", "csv2json"]),
        ("__init__ _ - -x-", ["init", "x"]),
        ("don't l\u2019heure", ["don", "t", "l", "heure"]),
        ("Café CAFE\u0301 naïve Straße", ["cafe", "cafe", "naive", "strasse"]),
        ("größteZahl", ["grosste", "zahl", "grosstezahl"]),
        ("ελλάδα Ελλαδα", ["ελλαδα", "ελλαδα"]),
        ("東京", ["東", "京", "東京"]),
        ("東京、大阪", ["東", "京", "大", "阪", "東京", "大阪"]),
        ("東 京", ["東", "京"]),
        ("京tool京", ["京", "tool", "京"]),
        ("ガ", ["ガ"]),
        ("날씨를 비", ["날씨를", "날씨", "씨를", "비"]),
        ("हिन्दी", ["हिन्दी"]),
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
        "search searches searching searched",
        "box boxes",
        "size sizes",
        "class classes",
        "wish wishes",
        "movie movies",
        "day days",
        "file files",
        "note notes",
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


@check_each("part", ["2", "s3", "天气", "été", "as", ""])
def test_what_has_no_english_ending_is_its_own_term(part: str) -> None:
    assert term(part) == part


@moderate
@given(st.text("aeinostdgy", min_size=1, max_size=9))
def test_a_term_is_no_common_word_unless_it_was_one(part: str) -> None:
    assert term(part) == part or term(part) not in COMMON
    assert len(term(part)) >= min(3, len(part))


@moderate
@given(st.lists(lower, min_size=2, max_size=4))
def test_a_name_has_the_same_parts_however_its_words_are_joined(words: list[str]) -> None:
    expected = [*words, "".join(words)]
    camel = words[0] + "".join(word.capitalize() for word in words[1:])
    for name in ("_".join(words), "-".join(words), camel, camel[0].upper() + camel[1:]):
        assert parts(name) == expected
