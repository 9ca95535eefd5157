from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sovl_tools import ToolDefinition
from sovl_tools.loading.catalog_builder import combine
from sovl_tools.model.catalog import Candidate, Catalog, Status
from tests.schema.strategies import moderate


def handler(step: Any, context: Any) -> None: ...


def loaded(
    name: str, path: str = "tools", *, phrases: tuple[str, ...] = (), actions: tuple[str, ...] = ()
) -> Candidate:
    definition = ToolDefinition(
        name, "", {}, print, source=path, step_handlers=dict.fromkeys(actions, handler)
    )
    place = f"{path}/{name}"
    return Candidate(
        name, place, f"/absent/{place}", "loaded", definition, phrases=phrases, actions=actions
    )


def absent(name: str, status: Status, *reasons: str, path: str = "tools") -> Candidate:
    return Candidate(name, f"{path}/{name}", f"/absent/{name}", status, reasons=reasons)


def said(catalog: Catalog) -> list[tuple[str, str, str]]:
    return [(each.code, each.severity, each.message) for each in catalog.diagnostics]


def test_the_tools_are_ordered_by_name() -> None:
    catalog = combine([loaded("b"), loaded("c"), loaded("a")])
    assert list(catalog.tools) == ["a", "b", "c"]
    assert catalog.diagnostics == ()


def test_no_candidates_make_an_empty_catalog() -> None:
    assert combine([]) == Catalog()


def test_when_the_first_is_gone_the_second_takes_its_place() -> None:
    first, second = loaded("echo", "one"), loaded("echo", "two")
    combine([first, second])
    assert combine([second]).tools == {"echo": second.definition}


def test_a_tool_that_did_not_load_leaves_its_name_to_the_next() -> None:
    broken, sound = absent("echo", "rejected", "it is broken", path="one"), loaded("echo", "two")
    catalog = combine([broken, sound])
    assert catalog.tools == {"echo": sound.definition}
    assert catalog.unavailable == {}


@pytest.mark.parametrize("status", ["disabled", "unavailable", "rejected", "waiting"])
def test_what_did_not_load_says_why(status: Status) -> None:
    catalog = combine([absent("echo", status, "one thing", "another")])
    assert catalog.tools == {}
    assert catalog.unavailable == {"echo": ("one thing", "another")}


def test_of_two_that_did_not_load_the_reasons_of_the_first_count() -> None:
    catalog = combine([absent("echo", "disabled", "first"), absent("echo", "rejected", "second")])
    assert catalog.unavailable == {"echo": ("first",)}


def test_of_two_tools_with_one_action_the_first_keeps_it() -> None:
    catalog = combine([loaded("a", actions=("greet",)), loaded("b", actions=("greet", "wave"))])
    assert list(catalog.tools) == ["a"]
    assert catalog.step_handlers == {"greet": handler}
    assert said(catalog) == [("ST802", "error", "the action 'greet' belongs to 'a' already")]
    assert "ST802" in catalog.unavailable["b"][0]


def test_a_rejected_tool_claims_nothing() -> None:
    first = loaded("a", actions=("greet",))
    second = loaded("b", actions=("greet", "wave"), phrases=("say it",))
    third = loaded("c", actions=("wave",), phrases=("say it",))
    catalog = combine([first, second, third])
    assert list(catalog.tools) == ["a", "c"]
    assert [each.code for each in catalog.diagnostics] == ["ST802"]


def test_phrases_without_words_are_not_the_same() -> None:
    assert combine([loaded("a", phrases=("!",)), loaded("b", phrases=("?",))]).diagnostics == ()


candidates = st.builds(
    loaded,
    st.sampled_from("abc"),
    st.sampled_from(["one", "two"]),
    phrases=st.lists(st.sampled_from(["say it", "Say it!", "echo"]), max_size=2).map(tuple),
    actions=st.sets(st.sampled_from(["greet", "wave"]), max_size=1).map(tuple),
) | st.builds(
    absent, st.sampled_from("abc"), st.sampled_from(["disabled", "rejected"]), st.just("a reason")
)


@moderate
@given(st.lists(candidates, max_size=6))
def test_the_catalog_is_a_function_of_the_candidates(found: list[Candidate]) -> None:
    catalog = combine(found)
    assert combine(found) == catalog
    assert [each[:3] for each in catalog.candidates] == [each[:3] for each in found]
    assert combine(each for each in found if each.status == "loaded").tools == catalog.tools


@moderate
@given(st.lists(candidates, max_size=6))
def test_every_name_is_a_tool_or_says_why_it_is_none(found: list[Candidate]) -> None:
    catalog = combine(found)
    names = {candidate.name for candidate in found}
    assert catalog.tools.keys() | catalog.unavailable.keys() == names
    assert catalog.tools.keys().isdisjoint(catalog.unavailable)
    assert all(catalog.unavailable.values())
    winners = {each.name for each in catalog.candidates if each.status == "loaded"}
    assert winners == set(catalog.tools)


@moderate
@given(st.lists(candidates, max_size=6))
def test_a_loser_changes_nothing_for_the_others(found: list[Candidate]) -> None:
    catalog = combine(found)
    kept = [
        before
        for before, after in zip(found, catalog.candidates, strict=True)
        if after.status == "loaded"
    ]
    assert combine(kept).tools == catalog.tools
    assert combine(kept).step_handlers == catalog.step_handlers
