from __future__ import annotations

from unicodedata import category

from hypothesis import given
from hypothesis import strategies as st

from sovl_tools.reporting.text import plain
from tests.schema.strategies import moderate
from tests.tables import check_each

anything = st.text(st.characters() | st.characters(categories=["Cc", "Cf", "Cs", "Zl", "Zp"]))


@check_each(
    ("text", "shown"),
    [
        ("tools/echo.json", "tools/echo.json"),
        ("größe 日本 🚀 e\u0301", "größe 日本 🚀 e\u0301"),
        ("\x1b[31mred\x1b[0m", r"\x1b[31mred\x1b[0m"),
        ("one\ntwo\r\tthree", r"one\ntwo\r\tthree"),
        ("evil\u202etxt.exe", r"evil\u202etxt.exe"),
        ("\u2028\u2029\ufeff\u00ad", r"\u2028\u2029\ufeff\xad"),
        ("\ud800 \udcff", r"\ud800 \udcff"),
        ("👩\u200d💻", "👩\u200d💻"),
    ],
)
def test_what_a_terminal_would_obey_is_written_out(text: str, shown: str) -> None:
    assert plain(text) == shown


@moderate
@given(anything)
def test_nothing_that_is_shown_is_obeyed(text: str) -> None:
    shown = plain(text)
    shown.encode()
    assert {category(letter) for letter in shown}.isdisjoint({"Cc", "Cs", "Zl", "Zp"})
    assert {letter for letter in shown if category(letter) == "Cf"} <= {"\u200c", "\u200d"}
    assert plain(shown) == shown
