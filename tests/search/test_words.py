# ruff: noqa: RUF001 - letters that look alike are what is tested
from __future__ import annotations

from unicodedata import normalize

from hypothesis import given
from hypothesis import strategies as st

from sovl_tools.search.words import words
from tests.schema.strategies import moderate
from tests.tables import check_each

letters = st.characters(categories=["L", "M", "N"], max_codepoint=0x0DFF) | st.characters(
    min_codepoint=0xAC00, max_codepoint=0xD7A3
)


@check_each(
    ("text", "forms"),
    [
        ("Add numbers, please!", ("add", "numbers", "please")),
        ("snake_case v2.0", ("snake_case", "v2", "0")),
        ("Don't 'quote' rock'n'roll's", ("don't", "quote", "rock'n'roll's")),
        ("don\u2019t don\u02bct don\uff07t", ("don't", "don't", "don't")),
        ("dogs' naïve", ("dogs", "naïve")),
        ("Straße STRASSE", ("strasse", "strasse")),
        ("ΟΔΟΣ οδος οδοσ", ("οδοσ", "οδοσ", "οδοσ")),
        ("İ", ("i\u0307",)),
        ("ｆｕｌｌ　ｗｉｄｔｈ １２", ("full", "width", "12")),
        ("ﬁle ｍ²", ("file", "m2")),
        ("cafe\u0301 café", ("café", "café")),
        ("日本語のtool", ("日", "本", "語", "の", "tool")),
        ("か\u3099がカ", ("が", "が", "カ")),
        ("ไทย", ("ไ", "ท", "ย")),
        ("ที่", ("ที่",)),
        ("한국어 도구", ("한국어", "도구")),
        ("go 🚀🚀 now", ("go", "now")),
        ("हिन्दी भाषा", ("हिन्दी", "भाषा")),
        ("", ()),
        ("…!? 😀 \u0301", ()),
    ],
)
def test_a_text_is_taken_apart_into_words(text: str, forms: tuple[str, ...]) -> None:
    assert words(text) == forms


def test_half_width_katakana_are_the_full_ones() -> None:
    assert words("ﾊﾞｽ") == words("バス")


@moderate
@given(st.text(letters, max_size=8))
def test_composed_and_decomposed_letters_are_the_same(text: str) -> None:
    assert words(normalize("NFC", text)) == words(normalize("NFD", text))
