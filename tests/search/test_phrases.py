# ruff: noqa: RUF001 - letters that look alike are what is tested
from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import FrameType
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from sovl_tools import PhraseMatch, ToolDefinition
from sovl_tools.search.phrases import PhraseIndex, _Node
from sovl_tools.search.words import spans, words
from tests.schema.strategies import moderate
from tests.tables import check_each

WORDS = ("add", "numbers", "don't", "straße", "Éclair", "x2", "日", "ﬁle", "snake_case")
SEPARATORS = (" ", ", ", "\n", "! ", " … ", " - ", "🚀")
SPELLINGS = ("add", "Add!", "add numbers", "ADD Numbers", "add numbers now", "numbers", "now", "!?")
TEXT = "add numbers, now add: add numbers now"

phrases = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join)
around = st.lists(st.sampled_from(WORDS), max_size=4)
edits = st.dictionaries(
    st.sampled_from("abc"),
    st.none() | st.lists(st.sampled_from(SPELLINGS), max_size=4).map(tuple),
    max_size=3,
)
"""The new phrases of some tools; None removes the tool."""

Tools = dict[str, ToolDefinition]


def tool(name: str, *activation_phrases: str) -> ToolDefinition:
    function: Callable[..., Any] = print
    return ToolDefinition(name, "", {}, function, activation_phrases=activation_phrases)


def found(text: str, *activation_phrases: str) -> list[str]:
    """Return the parts of the text that are phrases."""
    hits = PhraseIndex([tool("echo", *activation_phrases)]).match(text)
    return [text[hit.start : hit.end] for hit in hits]


@check_each(
    ("text", "phrase", "part"),
    [
        ("Please ADD the Numbers", "add the numbers", "ADD the Numbers"),
        ("add... the, numbers?", "add the numbers", "add... the, numbers"),
        ("I don\u2019t know", "don't know", "don\u2019t know"),
        ("zur Hauptstrasse", "HAUPTSTRAßE", "Hauptstrasse"),
        ("ΠΟΥ ΕΙΝΑΙ Ο ΔΡΟΜΟΣ", "ο δρομος", "Ο ΔΡΟΜΟΣ"),
        ("in İzmir today", "i\u0307ZMIR", "İzmir"),
        ("ａｄｄ　ｎｕｍｂｅｒｓ", "add numbers", "ａｄｄ　ｎｕｍｂｅｒｓ"),
        ("open the ﬁle", "file", "ﬁle"),
        ("un cafe\u0301 noir", "café", "cafe\u0301"),
        ("今日の天気は?", "天気", "天気"),
        ("请用'echo'工具", "echo", "echo"),
        ("请用\u2018echo\u2019工具", "echo", "echo"),
        ("อากาศวันนี้", "วันนี้", "วันนี้"),
        ("🚀add🚀numbers🚀", "add numbers", "add🚀numbers"),
    ],
)
def test_a_phrase_is_found_however_it_is_written(text: str, phrase: str, part: str) -> None:
    assert found(text, phrase) == [part]


@check_each(
    ("text", "phrase"),
    [
        ("category", "cat"),
        ("concat", "cat"),
        ("don't", "don"),
        ("snake_case", "snake"),
        ("add2", "add"),
        ("cafés", "café"),
        ("cafe\u0301", "cafe"),
        ("add the numbers", "add numbers"),
        ("numbers add", "add numbers"),
        ("text", "!?"),
        ("text", ""),
        ("", "text"),
    ],
)
def test_a_phrase_is_not_found_where_other_words_stand(text: str, phrase: str) -> None:
    assert found(text, phrase) == []


def test_every_occurrence_is_found() -> None:
    assert found("add, add and add", "add") == ["add"] * 3


def test_the_longest_phrase_comes_first_then_the_place_then_the_tool() -> None:
    index = PhraseIndex([tool("b", "numbers", "add numbers"), tool("a", "numbers")])
    assert index.match("numbers: add numbers") == [
        PhraseMatch("b", "add numbers", 9, 20, 2 / 3),
        PhraseMatch("a", "numbers", 0, 7, 1 / 3),
        PhraseMatch("b", "numbers", 0, 7, 1 / 3),
        PhraseMatch("a", "numbers", 13, 20, 1 / 3),
        PhraseMatch("b", "numbers", 13, 20, 1 / 3),
    ]


def test_a_phrase_that_is_the_whole_text_scores_one() -> None:
    (hit,) = PhraseIndex([tool("echo", "add numbers")]).match("Add numbers!")
    assert hit.score == 1


def test_a_phrase_that_a_tool_has_twice_is_found_once() -> None:
    assert found("add", "add", "add") == ["add"]


def test_the_longest_phrase_comes_first_in_a_long_text_too() -> None:
    text = "add " + "word " * 30_000 + "add numbers"
    first, *rest = PhraseIndex([tool("echo", "add", "add numbers")]).match(text)
    assert (first.phrase, [hit.phrase for hit in rest]) == ("add numbers", ["add", "add"])
    assert first.score > rest[0].score > 0


@st.composite
def texts_with(draw: st.DrawFn, phrase: str) -> tuple[str, int]:
    """Return a text that contains the words of a phrase, and where they begin."""
    separators = st.sampled_from(SEPARATORS)
    before = "".join(word + draw(separators) for word in draw(around))
    inside = "".join(word + draw(separators) for word in phrase.split(" "))
    after = "".join(word + draw(separators) for word in draw(around))
    return before + inside + after, len(before)


@moderate
@given(st.data(), st.lists(phrases, min_size=1, max_size=4, unique=True))
def test_a_phrase_between_word_boundaries_is_always_found(
    data: st.DataObject, known: list[str]
) -> None:
    text, start = data.draw(texts_with(known[0]))
    hits = PhraseIndex([tool("echo", *known)]).match(text)
    assert [hit for hit in hits if (hit.phrase, hit.start) == (known[0], start)]


@moderate
@given(st.data(), st.lists(phrases, min_size=1, max_size=4, unique=True))
def test_what_is_found_has_the_words_of_the_phrase(data: st.DataObject, known: list[str]) -> None:
    text, _ = data.draw(texts_with(known[0]))
    places = {word.start for word in spans(text)}, {word.end for word in spans(text)}
    hits = PhraseIndex([tool("echo", *known)]).match(text)
    for hit in hits:
        assert words(text[hit.start : hit.end]) == words(hit.phrase)
        assert hit.start in places[0]
        assert hit.end in places[1]
        assert 0 < hit.score <= 1
    lengths = [len(words(hit.phrase)) for hit in hits]
    assert lengths == sorted(lengths, reverse=True)


def edited(tools: Tools, edit: Mapping[str, Iterable[str] | None]) -> Tools:
    """Return the tools after an edit, those that it names made anew."""
    left = {name: known for name, known in tools.items() if name not in edit}
    made = {name: tool(name, *known) for name, known in edit.items() if known is not None}
    return left | made


def difference(old: Tools, new: Tools) -> tuple[list[ToolDefinition], list[ToolDefinition]]:
    """Return the definitions that are in the old tools only and those in the new ones only."""
    removed = [known for name, known in old.items() if new.get(name) is not known]
    return removed, [known for name, known in new.items() if old.get(name) is not known]


def nodes(index: PhraseIndex) -> set[_Node]:
    def below(node: _Node) -> Iterator[_Node]:
        yield node
        for child in node.following.values():
            yield from below(child)

    return set(below(index._root))


def nodes_made(action: Callable[[], object]) -> int:
    """Return how many nodes an action makes, those that it throws away as well."""
    made = 0

    def profile(frame: FrameType, event: str, _: object) -> None:
        nonlocal made
        made += event == "call" and frame.f_code is _Node.__init__.__code__

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        action()
    finally:
        sys.setprofile(before)
    return made


@moderate
@given(st.lists(edits, max_size=6))
def test_an_index_that_was_changed_is_as_one_built_anew(history: list[dict[str, Any]]) -> None:
    tools: Tools = {}
    index = PhraseIndex([])
    for edit in history:
        changed = edited(tools, edit)
        index = index.changed(*difference(tools, changed))
        anew = PhraseIndex(changed.values())
        assert index.match(TEXT) == anew.match(TEXT)
        assert len(nodes(index)) == len(nodes(anew))
        tools = changed


@moderate
@given(edits, st.lists(edits, min_size=1, max_size=3))
def test_an_index_answers_as_before_whatever_is_made_of_it(
    first: dict[str, Any], others: list[dict[str, Any]]
) -> None:
    tools = edited({}, first)
    index = PhraseIndex(tools.values())
    answers, size = index.match(TEXT), len(nodes(index))
    for edit in others:
        index.changed(*difference(tools, edited(tools, edit)))
        assert index.match(TEXT) == answers
        assert len(nodes(index)) == size


@moderate
@given(edits, edits, edits)
def test_only_the_difference_counts_whatever_is_said_of_other_tools(
    known: dict[str, Any], removed: dict[str, Any], added: dict[str, Any]
) -> None:
    def pairs(edit: Mapping[str, Iterable[str] | None]) -> set[tuple[str, str]]:
        return {(name, phrase) for name, own in edit.items() for phrase in own or ()}

    index = PhraseIndex(edited({}, known).values())
    changed = index.changed(edited({}, removed).values(), edited({}, added).values())
    left = pairs(known) - pairs(removed) | pairs(added)
    anew = PhraseIndex([tool(name, phrase) for name, phrase in left])
    assert changed.match(TEXT) == anew.match(TEXT)
    assert len(nodes(changed)) == len(nodes(anew))


def test_a_new_version_of_a_tool_with_the_same_phrases_changes_nothing() -> None:
    old = tool("echo", "add numbers", "add")
    index = PhraseIndex([old])
    assert index.changed([old], [tool("echo", "add", "add numbers", "add")]) is index


def test_tools_without_phrases_change_nothing() -> None:
    index = PhraseIndex([tool("echo", "add")])
    assert index.changed([tool("other")], [tool("another", "!?", "")]) is index


def test_a_phrase_that_is_not_there_need_not_be_removed_nor_one_that_is_be_added() -> None:
    index = PhraseIndex([tool("echo", "add numbers")])
    unknown = [tool("other", "add numbers"), tool("echo", "add"), tool("echo", "add numbers now")]
    assert index.changed(unknown, [tool("echo", "add numbers")]) is index


def test_a_phrase_that_a_tool_has_twice_is_removed_whole() -> None:
    old = tool("echo", "add", "add")
    index = PhraseIndex([old]).changed([old], [])
    assert index.match("add") == []
    assert len(nodes(index)) == 1


def test_of_two_spellings_one_can_be_removed() -> None:
    index = PhraseIndex([tool("echo", "add", "Add!")])
    changed = index.changed([tool("echo", "add", "Add!")], [tool("echo", "Add!")])
    assert [hit.phrase for hit in changed.match("add")] == ["Add!"]
    assert [hit.phrase for hit in index.match("add")] == ["Add!", "add"]


def test_words_that_lead_to_no_phrase_are_dropped_and_those_that_do_are_kept() -> None:
    long = tool("long", "add two numbers now")
    index = PhraseIndex([tool("short", "add two"), long])
    assert len(nodes(index)) == 5
    assert len(nodes(index.changed([long], []))) == 3
    assert len(nodes(index.changed([tool("short", "add two")], []))) == 5


def test_what_a_change_does_not_touch_is_shared() -> None:
    index = PhraseIndex([tool(f"tool_{n}", f"first{n} second", "add two") for n in range(50)])
    old = tool("tool_7", "first7 second", "add two")
    changed = index.changed([old], [tool("tool_7", "first7 other", "add two")])
    own = nodes(changed) - nodes(index)
    root = changed._root
    assert own == {root, root.following["first7"], root.following["first7"].following["other"]}


def test_a_large_change_copies_each_place_once() -> None:
    index = PhraseIndex([tool(f"tool_{n}", f"add{n % 5} now") for n in range(50)])
    more = [tool(f"more_{n}", f"add{n % 10} {n}", "add0 now") for n in range(50)]
    results: list[PhraseIndex] = []
    made = nodes_made(lambda: results.append(index.changed([], more)))
    own = nodes(results[0]) - nodes(index)
    assert len(own) == 62
    assert made <= len(own) + 1


def test_a_phrase_of_very_many_words_comes_and_goes() -> None:
    long = tool("long", "word " * 100_000)
    index = PhraseIndex([tool("echo", "word")])
    with_long = index.changed([], [long])
    assert [hit.tool for hit in with_long.match("word " * 3)] == ["echo"] * 3
    assert len(nodes(with_long.changed([long], []))) == 2
