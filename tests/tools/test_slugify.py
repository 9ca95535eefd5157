"""Names for addresses and files."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.patience import bounded_work
from tests.tables import check_each

from .conftest import Call, Module, Refuse

Value = Callable[..., Any]


@pytest.fixture
def slug(value: Value) -> Callable[..., Any]:
    def of(text: str, **arguments: Any) -> Any:
        return value("slugify", text=text, **arguments)["slug"]

    return of


@check_each(
    ("text", "expected"),
    [
        ("Hello, World!", "hello-world"),
        ("  --a__b..c--  ", "a-b-c"),
        ("one\N{EM DASH}two\N{HORIZONTAL ELLIPSIS}three", "one-two-three"),
        ("日本 and x日y", "and-xy"),
        ("Straße Ørsted Łódź ÆON İzmir ılık", "strasse-orsted-lodz-aeon-izmir-ilik"),  # noqa: RUF001
        ("don't can’t", "dont-cant"),  # noqa: RUF001
        ("../../etc/passwd\0", "etc-passwd"),
        ("ﬁne ²", "fine-2"),
        ("100 % <b>safe</b>", "100-b-safe-b"),
        ("ｗｉｄｅ", "wide"),  # noqa: RUF001
    ],
)
def test_makes_a_slug(slug: Callable[..., Any], text: str, expected: str) -> None:
    assert slug(text) == expected


@pytest.mark.parametrize("separator", ["-", "_", "."])
def test_the_separator_can_be_chosen(slug: Callable[..., Any], separator: str) -> None:
    assert slug("a b-c_d.e", separator=separator) == separator.join("abcde")


@check_each(
    ("limit", "expected"),
    [
        (1, "a"),
        (4, "alph"),
        (5, "alpha"),
        (6, "alpha"),
        (9, "alpha"),
        (10, "alpha-beta"),
        (99, "alpha-beta"),
    ],
)
def test_a_long_slug_is_cut_between_words(
    slug: Callable[..., Any], limit: int, expected: str
) -> None:
    assert slug("Alpha Beta", max_length=limit) == expected


def test_a_limit_of_null_is_none(slug: Callable[..., Any]) -> None:
    assert slug("Alpha Beta", max_length=None) == "alpha-beta"


@check_each(
    ("text", "options", "expected"),
    [
        ("Éa Ü", {"keep_unicode": True}, "éa-ü"),
        ("日本語 テスト", {"keep_unicode": True}, "日本語-テスト"),
        ("हिन्दी", {"keep_unicode": True}, "हिन्दी"),
        ("a \u2764\ufe0f b", {"keep_unicode": True}, "a-b"),
        ("Keep Case", {"lowercase": False}, "Keep-Case"),
        ("The End of THE day", {"drop_words": ["the", "OF"]}, "end-day"),
        ("a", {}, "a"),
        ("The É", {"keep_unicode": True, "lowercase": False, "drop_words": ["the"]}, "É"),
    ],
)
def test_options_say_how_words_are_treated(
    slug: Callable[..., Any], text: str, options: dict[str, Any], expected: str
) -> None:
    assert slug(text, options=options) == expected


@pytest.mark.parametrize(
    ("text", "options"), [("!!!", {}), ("日本語", {}), ("the", {"drop_words": ["The"]})]
)
def test_a_text_of_which_nothing_remains_is_refused(
    refuse: Refuse, text: str, options: dict[str, Any]
) -> None:
    assert "nothing of the text remains" in refuse("slugify", text=text, options=options)


@check_each(
    "arguments",
    [
        {"text": ""},
        {"text": "x" * 1001},
        {"text": "a", "separator": "/"},
        {"text": "a", "max_length": 0},
        {"text": "a", "options": {"unknown": True}},
        {"text": "a", "options": {"drop_words": [1]}},
    ],
)
def test_arguments_that_break_the_schema_are_refused(call: Call, arguments: dict[str, Any]) -> None:
    answer = call("slugify", **arguments)
    assert answer.error is not None
    assert answer.error.kind == "invalid_arguments"


def test_a_text_full_of_accents_takes_no_time(module: Module) -> None:
    text = "a" + "\u0301\u0316" * 499
    with bounded_work():
        for keep in (False, True):
            module("slugify").slugify(text, max_length=None, options={"keep_unicode": keep})
