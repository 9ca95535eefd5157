"""Slots of activation phrases: what they take, and that it's what the schema wants."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from sovl_tools import ToolDefinition
from sovl_tools.schema.engine import compile_schema
from sovl_tools.search.phrases import PhraseIndex
from tests.schema.strategies import moderate
from tests.tables import check_each

PROPERTIES: dict[str, dict[str, Any]] = {
    "city": {"type": "string"},
    "count": {"type": "integer"},
    "amount": {"type": "number"},
    "on": {"type": "boolean"},
    "unit": {"enum": ["km", "nautical miles", 5, None, True]},
    "maybe": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
    "level": {"$ref": "#/$defs/level"},
    "items": {"type": "array"},
    "any": {},
}
SCHEMA = {
    "type": "object",
    "properties": PROPERTIES,
    "$defs": {"level": {"type": ["string", "integer"], "enum": ["low", "very low", 3]}},
}
WORDS = ("weather", "in", "to", "Oslo", "low", "5", "-3", "2.5", "1,000", "off", "yes", "nautical")
SEPARATORS = (" ", ", ", ". ", "! ", "\n", "'", "/", "日")

texts = st.lists(st.sampled_from((*WORDS, "miles", "very", "please", *SEPARATORS))).map(" ".join)
phrases = st.lists(
    st.sampled_from((*WORDS, *(f"{{{name}}}" for name in PROPERTIES))), min_size=1, max_size=5
).map(" ".join)


def tool(name: str, *activation_phrases: str) -> ToolDefinition:
    return ToolDefinition(name, "", SCHEMA, print, activation_phrases=activation_phrases)


def taken(phrase: str, text: str) -> Any:
    """Return where a phrase is in a text, and what its slots took; None if it isn't there."""
    found = PhraseIndex([tool("echo", phrase)]).match(text)
    return [(text[each.start : each.end], each.arguments) for each in found] or None


@check_each(
    ("phrase", "text", "part", "arguments"),
    [
        ("weather in {city}", "The WEATHER in Oslo", "WEATHER in Oslo", {"city": "Oslo"}),
        ("weather in {city}", "weather in New York.", "weather in New York", {"city": "New York"}),
        ("in {city}", "in Oslo. Thanks!", "in Oslo", {"city": "Oslo"}),
        ("in {city}", "in Oslo, Norway please", "in Oslo, Norway", {"city": "Oslo, Norway"}),
        ("in {city} now", "in São Paulo now", "in São Paulo now", {"city": "São Paulo"}),
        ("read {city}", "read /tmp/a.txt", "read /tmp/a.txt", {"city": "/tmp/a.txt"}),
        ("read {city}", 'read "a b.txt"!', 'read "a b.txt', {"city": "a b.txt"}),
        (
            "{city} weather",
            "what is the New York weather",
            "New York weather",
            {"city": "New York"},
        ),
        ("{ city } 天气", "Oslo 天气", "Oslo 天气", {"city": "Oslo"}),
        ("take {count}", "take 1,200 of them", "take 1,200", {"count": 1200}),
        ("take {count}", "take -5", "take -5", {"count": -5}),
        ("pay {amount}", "pay $2.50 now", "pay $2.50", {"amount": 2.5}),
        ("pay {amount}", "pay 3", "pay 3", {"amount": 3}),
        ("turn {on} the light", "turn off the light", "turn off the light", {"on": False}),
        ("in {unit}", "in Nautical Miles?", "in Nautical Miles", {"unit": "nautical miles"}),
        ("in {unit}", "in 5", "in 5", {"unit": 5}),
        ("maybe {maybe}", "maybe 7", "maybe 7", {"maybe": 7}),
        ("level {level}", "level very low", "level very low", {"level": "very low"}),
        ("say {any}", "say it", "say it", {"any": "it"}),
        (
            "convert {amount} {unit} to {city}",
            "please convert 2,340.5 nautical miles to km",
            "convert 2,340.5 nautical miles to km",
            {"amount": 2340.5, "unit": "nautical miles", "city": "km"},
        ),
        (
            "from {city} to {any}",
            "from Oslo to Rome",
            "from Oslo to Rome",
            {"city": "Oslo", "any": "Rome"},
        ),
        ("take {items}", "take items", "take items", {}),
        ("take {nothing}", "take nothing", "take nothing", {}),
    ],
)
def test_a_slot_takes_what_its_schema_wants(
    phrase: str, text: str, part: str, arguments: dict[str, Any]
) -> None:
    assert taken(phrase, text) == [(part, arguments)]


@check_each(
    ("phrase", "text"),
    [
        ("weather in {city}", "weather in"),
        ("weather in {city}", "weather in. Oslo"),
        ("take {count}", "take many"),
        ("take {count}", "take 2.5"),
        ("take {count}", f"take {'9' * 5_000}"),
        ("turn {on}", "turn it"),
        ("in {unit}", "in miles"),
        ("{city}", "Oslo"),
        ("{city} weather", "the weather"),
    ],
)
def test_without_a_value_there_is_no_match(phrase: str, text: str) -> None:
    assert taken(phrase, text) is None


def test_the_phrase_of_most_words_comes_first_then_the_one_with_slots() -> None:
    index = PhraseIndex(
        [tool("a", "weather", "weather {city}"), tool("b", "weather in {city}", "weather in")]
    )
    found = [(each.phrase, each.score) for each in index.match("weather in Oslo")]
    assert found == [
        ("weather in {city}", 1),
        ("weather in", 2 / 3),
        ("weather {city}", 1),
        ("weather", 1 / 3),
    ]


@moderate
@given(st.lists(phrases, min_size=1, max_size=4, unique=True), texts)
def test_arguments_meet_the_types_of_the_schema(known: list[str], text: str) -> None:
    check = compile_schema(SCHEMA)
    for hit in PhraseIndex([tool("echo", *known)]).match(text):
        assert not check.problems(dict(hit.arguments))
        assert {f"{{{name}}}" for name in hit.arguments} <= {*hit.phrase.split()}
        assert 0 < hit.score <= 1
        assert 0 <= hit.start < hit.end <= len(text)
