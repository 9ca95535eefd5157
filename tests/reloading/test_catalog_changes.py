"""Which version of a tool serves, and what is said of a change."""

from __future__ import annotations

from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sovl_tools import CatalogChange
from sovl_tools.loading.catalog_builder import combine
from sovl_tools.loading.load import Load
from sovl_tools.loading.sources import Collected
from sovl_tools.model.catalog import Candidate, Catalog, Status
from sovl_tools.model.folder import ToolFolder
from sovl_tools.reloading.reload_state import ReloadState
from tests.loading.folders import bad, good, statuses
from tests.schema.strategies import examples, moderate

ALL = tuple(good(name, root).location for root in ("one", "two", "three") for name in "abc")


def folder_of(candidate: Candidate) -> ToolFolder:
    return ToolFolder(candidate.name, candidate.path, candidate.location)


def state_of(*candidates: Candidate) -> ReloadState:
    collected = Collected(tuple(map(folder_of, candidates)), ())
    return ReloadState(
        Load(candidates=candidates, catalog=combine(candidates), collected=collected)
    )


def entered(state: ReloadState, *new: Candidate) -> CatalogChange:
    """Let candidates take the places of those that stand for the same folders."""
    folders = {**state.folders, **{each.location: folder_of(each) for each in new}}
    state.folders = {place: folders[place] for place in ALL if place in folders}
    for each in new:
        state._enter(each)
    return state.combine()


def left(state: ReloadState, *gone: Candidate) -> CatalogChange:
    for each in gone:
        state.folders.pop(each.location, None)
        state._candidates.pop(each.location, None)
    return state.combine()


def shown(catalog: Catalog) -> dict[str, Candidate]:
    return {each.location: each for each in catalog.candidates}


def test_a_broken_edit_keeps_the_last_good_version() -> None:
    first = good("a", phrases=("say it",), actions=("greet",))
    state = state_of(first)
    broken = bad("a")
    change = entered(state, broken)
    assert state.catalog.tools == {"a": first.definition}
    assert list(state.catalog.step_handlers) == ["greet"]
    assert state.catalog.unavailable == {}
    assert statuses(state.catalog) == {"one/a": "rejected"}
    assert (change.rejected, change.added, change.updated, change.removed) == (("a",), (), (), ())


def test_of_many_broken_edits_the_version_before_the_first_serves() -> None:
    first = good("a")
    state = state_of(first)
    for why in ("one thing", "another"):
        change = entered(state, bad("a", why=why))
        assert change.rejected == ("a",)
        assert state.catalog.tools == {"a": first.definition}
    assert shown(state.catalog)[first.location].reasons == ("another",)


@pytest.mark.parametrize("status", ["disabled", "unavailable"])
def test_what_its_author_takes_out_does_not_serve(status: Status) -> None:
    state = state_of(good("a", actions=("greet",)))
    change = entered(state, bad("a", status=status))
    assert state.catalog.tools == {}
    assert state.catalog.step_handlers == {}
    assert state.catalog.unavailable == {"a": (f"it is {status}",)}
    assert change.removed == ("a",)
    entered(state, bad("a"))
    assert state.catalog.tools == {}


def test_the_same_once_more_is_no_change() -> None:
    first = good("a")
    state = state_of(first)
    catalog = state.catalog
    assert not entered(state, first._replace())
    assert state.catalog is catalog
    entered(state, bad("a"))
    assert not entered(state, bad("a"))


def test_a_winner_that_never_loaded_leaves_the_name_to_the_other() -> None:
    loser = good("a", "two")
    state = state_of(bad("a"), loser)
    assert state.catalog.tools == {"a": loser.definition}
    change = entered(state, bad("a", why="another reason"))
    assert state.catalog.tools == {"a": loser.definition}
    assert change.rejected == ("a",)


def test_a_phrase_that_another_has_is_only_warned_of() -> None:
    first = good("a", phrases=("say it",))
    state = state_of(first)
    second = good("b", phrases=("Say it!",))
    change = entered(state, second)
    assert change.added == ("b",)
    assert [each.code for each in change.diagnostics] == ["ST803"]
    entered(state, bad("b"))
    assert state.catalog.tools["b"] is second.definition
    assert state.catalog.diagnostics == ()


def test_a_folder_that_was_never_there_does_not_leave() -> None:
    state = state_of()
    assert not left(state, good("a"))


def test_folders_stand_in_the_order_of_their_precedence() -> None:
    state = state_of(good("b"))
    entered(state, good("a"), bad("c"))
    assert [each.name for each in state.catalog.candidates] == ["a", "b", "c"]
    left(state, good("b"))
    entered(state, good("b"), bad("a", "two"))
    assert list(statuses(state.catalog)) == ["one/a", "one/b", "one/c", "two/a"]


def test_a_change_has_the_diagnostics_of_the_folders_in_it() -> None:
    old = combine([good("c"), good("c", "two")]).diagnostics[0]
    state = state_of(good("a")._replace(diagnostics=(old,)), good("b"))
    new = old._replace(path="one/b", line=2)
    first = old._replace(path="one/b", line=1)
    change = entered(state, good("b")._replace(diagnostics=(new, first)))
    assert change.diagnostics == (first, new)


def test_a_change_tells_only_what_is_wrong_with_what_has_changed() -> None:
    state = state_of(good("a"))
    for root in ("two", "three"):
        change = entered(state, good("a", root))
        assert [each.path for each in change.diagnostics] == [f"{root}/a/a.json"]
    assert [each.path for each in state.catalog.diagnostics] == [
        "two/a/a.json",
        "three/a/a.json",
    ]


class Outcome(NamedTuple):
    """What becomes of a folder in a test; ``again`` is what became of it the last time."""

    kind: Status | str
    phrases: tuple[str, ...] = ()
    actions: tuple[str, ...] = ()


locations = st.sampled_from(ALL[:6])
kinds = ["loaded"] * 5 + ["rejected"] * 2 + ["again", "disabled", "unavailable", "waiting"]
outcomes = st.builds(
    Outcome,
    st.sampled_from(kinds),
    st.lists(st.sampled_from(["say it", "Say, it!", "echo", "!"]), max_size=1).map(tuple),
    st.lists(st.sampled_from(["greet", "wave", "bow"]), max_size=2, unique=True).map(tuple),
)
steps = st.dictionaries(locations, st.none() | outcomes | outcomes, min_size=1, max_size=3)


def made(location: str, outcome: Outcome, before: Candidate | None) -> Candidate:
    root, name = location.removeprefix("/absent/").split("/")
    if outcome.kind == "again" and before is not None:
        return before._replace(previous=None)
    if outcome.kind in {"loaded", "again"}:
        return good(name, root, phrases=outcome.phrases, actions=outcome.actions)
    return bad(name, root, status=outcome.kind)  # type: ignore[arg-type]  # a word out of a list


@settings(moderate, max_examples=examples(200))
@given(sequence=st.lists(steps, max_size=12))
def test_after_any_changes_the_catalog_is_that_of_its_candidates_alone(
    sequence: list[dict[str, Outcome | None]],
) -> None:
    state = state_of()
    for step in sequence:
        before = state.catalog
        known = state._candidates
        new = [made(place, each, known.get(place)) for place, each in step.items() if each]
        gone = [made(place, Outcome("waiting"), None) for place, each in step.items() if not each]
        first, second = left(state, *gone), entered(state, *new)
        assert state.catalog == combine(state._candidates.values())
        assert list(state.catalog.tools) == sorted(state.catalog.tools)
        old, tools = before.tools, state.catalog.tools
        assert tools.keys() - old.keys() <= {*first.added, *second.added}
        assert old.keys() - tools.keys() <= {*first.removed, *second.removed}
        others = {name for name in old.keys() & tools.keys() if old[name] is not tools[name]}
        assert others <= {*first.updated, *second.updated, *first.removed, *second.added}
