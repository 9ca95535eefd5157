"""Which version of a tool serves, and what is said of a change."""

from __future__ import annotations

import gc
from collections.abc import Iterable
from weakref import ref

import pytest

from sovl_tools.loading.combining import combine
from sovl_tools.loading.roster import Roster
from sovl_tools.model.catalog import Candidate, CatalogChange, Status
from tests.loading.folders import bad, good, statuses

ALL = tuple(good(name, root).location for root in ("one", "two", "three") for name in "abc")


def roster_of(*candidates: Candidate) -> Roster:
    return Roster(candidates, combine(candidates))


def entered(roster: Roster, *new: Candidate, order: Iterable[str] | None = ALL) -> CatalogChange:
    """Let candidates take the places of those that stand for the same folders."""
    changes = [change for each in new for change in roster.entered(each)]
    return roster.swap(changes, None if order is None else tuple(order))


def left(roster: Roster, *gone: Candidate) -> CatalogChange:
    locations = {each.location for each in gone}
    changes = [change for each in locations for change in roster.left(each)]
    return roster.swap(changes, [each for each in ALL if each not in locations])


def test_a_broken_edit_keeps_the_last_good_version() -> None:
    first = good("a", phrases=("say it",), actions=("greet",))
    roster = roster_of(first)
    broken = bad("a")
    change = entered(roster, broken, order=None)
    assert roster.catalog.tools == {"a": first.definition}
    assert list(roster.catalog.step_handlers) == ["greet"]
    assert roster.catalog.unavailable == {}
    assert statuses(roster.catalog) == {"one/a": "rejected"}
    assert (change.rejected, change.added, change.updated, change.removed) == (("a",), (), (), ())


def test_of_many_broken_edits_the_version_before_the_first_serves() -> None:
    first = good("a")
    roster = roster_of(first)
    for why in ("one thing", "another"):
        change = entered(roster, bad("a", why=why))
        assert change.rejected == ("a",)
        assert roster.catalog.tools == {"a": first.definition}
    assert roster.shown[first.location].reasons == ("another",)


@pytest.mark.parametrize("status", ["disabled", "unavailable"])
def test_what_its_author_takes_out_does_not_serve(status: Status) -> None:
    roster = roster_of(good("a", actions=("greet",)))
    change = entered(roster, bad("a", status=status))
    assert roster.catalog.tools == {}
    assert roster.catalog.step_handlers == {}
    assert roster.catalog.unavailable == {"a": (f"it is {status}",)}
    assert change.removed == ("a",)
    entered(roster, bad("a"))
    assert roster.catalog.tools == {}


def test_a_mended_tool_serves_and_its_last_good_version_is_let_go() -> None:
    first, second = good("a"), good("a")
    gone = ref(first.definition)
    roster = roster_of(first)
    entered(roster, bad("a"))
    assert gone() is first.definition
    del first
    change = entered(roster, second)
    assert (change.updated, change.rejected) == (("a",), ())
    assert roster.catalog.tools == {"a": second.definition}
    gc.collect()
    assert gone() is None


def test_an_undone_edit_serves_as_updated() -> None:
    first = good("a")
    roster = roster_of(first)
    entered(roster, bad("a"))
    assert entered(roster, first).updated == ("a",)
    assert statuses(roster.catalog) == {"one/a": "loaded"}


def test_the_same_once_more_is_no_change() -> None:
    first, catalog = good("a"), combine([good("a")])
    roster = Roster([first], catalog)
    assert not entered(roster, first._replace(), order=None)
    assert roster.catalog is catalog
    entered(roster, bad("a"))
    assert not entered(roster, bad("a"))


def test_a_removed_winner_lets_the_loser_serve() -> None:
    winner, loser = good("a"), good("a", "two")
    roster = roster_of(winner, loser)
    assert roster.catalog.tools == {"a": winner.definition}
    change = left(roster, winner)
    assert (change.updated, change.removed) == (("a",), ())
    assert roster.catalog.tools == {"a": loser.definition}
    assert left(roster, loser).removed == ("a",)
    assert roster.catalog.tools == {}


def test_the_new_tool_that_comes_first_by_precedence_wins() -> None:
    second, third = good("a", "two"), good("a", "three")
    roster = roster_of(third)
    entered(roster, second)
    assert roster.catalog.tools == {"a": second.definition}
    first = good("a")
    change = entered(roster, first)
    assert roster.catalog.tools == {"a": first.definition}
    assert statuses(roster.catalog) == {
        "one/a": "loaded", "two/a": "rejected", "three/a": "rejected"
    }  # fmt: skip
    assert change.updated == ("a",)
    assert {each.code for each in change.diagnostics} == {"ST801"}


def test_a_broken_winner_serves_as_it_was_and_the_loser_waits() -> None:
    winner, loser = good("a"), good("a", "two")
    roster = roster_of(winner, loser)
    entered(roster, bad("a"))
    assert roster.catalog.tools == {"a": winner.definition}
    assert statuses(roster.catalog) == {"one/a": "rejected", "two/a": "rejected"}


def test_a_winner_that_never_loaded_leaves_the_name_to_the_other() -> None:
    loser = good("a", "two")
    roster = roster_of(bad("a"), loser)
    assert roster.catalog.tools == {"a": loser.definition}
    change = entered(roster, bad("a", why="another reason"))
    assert roster.catalog.tools == {"a": loser.definition}
    assert change.rejected == ("a",)


def test_an_action_that_another_has_keeps_the_version_before() -> None:
    first, before = good("a", actions=("greet",)), good("b", actions=("wave",))
    roster = roster_of(first, before)
    after = good("b", actions=("greet",))
    change = entered(roster, after)
    assert change.rejected == ("b",)
    assert [each.code for each in change.diagnostics] == ["ST802"]
    assert roster.catalog.tools == {"a": first.definition, "b": before.definition}
    assert list(roster.catalog.step_handlers) == ["greet", "wave"]
    assert left(roster, first).updated == ("b",)
    assert roster.catalog.tools == {"b": after.definition}


def test_a_last_good_version_that_clashes_as_well_does_not_serve() -> None:
    first, before = good("a"), good("b", actions=("wave",))
    roster = roster_of(first, before)
    entered(roster, bad("b"))
    assert roster.catalog.tools == {"a": first.definition, "b": before.definition}
    taker = good("a", actions=("wave",))
    change = entered(roster, taker)
    assert roster.catalog.tools == {"a": taker.definition}
    assert roster.catalog.unavailable == {"b": ("it is rejected",)}
    assert change.removed == ("b",)
    assert change.rejected == ()
    back = entered(roster, good("a"))
    assert roster.catalog.tools["b"] is before.definition
    assert (back.added, back.updated, back.rejected) == (("b",), ("a",), ())


def test_what_a_last_good_version_brings_is_taken() -> None:
    first, before = good("a", actions=("greet",)), good("b", actions=("wave",))
    roster = roster_of(first, before)
    entered(roster, good("b", actions=("greet",)))
    change = entered(roster, good("c", actions=("wave",)))
    assert change.rejected == ("c",)
    assert roster.catalog.tools == {"a": first.definition, "b": before.definition}


def test_a_phrase_that_another_has_is_only_warned_of() -> None:
    first = good("a", phrases=("say it",))
    roster = roster_of(first)
    second = good("b", phrases=("Say it!",))
    change = entered(roster, second)
    assert change.added == ("b",)
    assert [each.code for each in change.diagnostics] == ["ST803"]
    entered(roster, bad("b"))
    assert roster.catalog.tools["b"] is second.definition
    assert roster.catalog.diagnostics == ()


def test_of_a_name_that_two_folders_have_the_broken_one_is_told_of() -> None:
    roster = roster_of(good("a"), good("a", "two"))
    change = entered(roster, bad("a", "two", why="it is broken"))
    assert change.rejected == ("a",)
    assert roster.catalog.diagnostics == ()


def test_a_waiting_folder_is_new_until_it_has_loaded() -> None:
    roster = roster_of()
    location = good("a").location
    assert roster.is_new(location)
    assert location not in roster
    change = entered(roster, bad("a", status="waiting"))
    assert change.waiting == ("a",)
    assert change
    assert location in roster
    assert roster.is_new(location)
    assert entered(roster, good("a")).added == ("a",)
    assert not roster.is_new(location)


def test_a_folder_that_was_never_there_does_not_leave() -> None:
    roster = roster_of()
    assert not left(roster, good("a"))


def test_folders_stand_in_the_order_of_their_precedence() -> None:
    roster = roster_of(good("b"))
    entered(roster, good("a"), bad("c"))
    assert [each.name for each in roster.catalog.candidates] == ["a", "b", "c"]
    left(roster, good("b"))
    entered(roster, good("b"), bad("a", "two"))
    assert list(statuses(roster.catalog)) == ["one/a", "one/b", "one/c", "two/a"]


def test_a_change_has_the_diagnostics_of_the_folders_in_it() -> None:
    old = combine([good("c"), good("c", "two")]).diagnostics[0]
    roster = roster_of(good("a")._replace(diagnostics=(old,)), good("b"))
    new = old._replace(path="one/b", line=2)
    first = old._replace(path="one/b", line=1)
    change = entered(roster, good("b")._replace(diagnostics=(new, first)))
    assert change.diagnostics == (first, new)


def test_what_comes_after_a_tool_of_its_name_costs_the_others_nothing() -> None:
    roster = roster_of(good("a"), good("b"))
    entered(roster, good("a", "two"))
    seen = dict(roster.shown)
    third = good("a", "three")
    roster.swap([*roster.entered(third)], None, {third.location: 3})
    assert all(roster.shown[place] is each for place, each in seen.items())
    assert roster.catalog == combine([*map(roster._candidates.__getitem__, roster.shown)])
    assert statuses(roster.catalog)["three/a"] == "rejected"


def test_a_new_version_of_a_tool_leaves_those_alone_that_claim_nothing_of_it() -> None:
    others = [good(name, phrases=(name,)) for name in "bc"]
    roster = roster_of(good("a"), *others, good("c", "two"))
    entered(roster, good("a", "two"))
    seen = dict(roster.shown)
    change = entered(roster, bad("a", why="it is broken"))
    assert [each.tool for each in change.diagnostics] == []
    assert {place for place, each in roster.shown.items() if seen[place] is not each} == {
        "/absent/one/a"
    }
    assert statuses(roster.catalog)["two/c"] == "rejected"


def test_a_change_tells_only_what_is_wrong_with_what_has_changed() -> None:
    roster = roster_of(good("a"))
    for root in ("two", "three"):
        change = entered(roster, good("a", root), order=None)
        assert [each.path for each in change.diagnostics] == [f"{root}/a/a.json"]
    assert [each.path for each in roster.catalog.diagnostics] == [
        "two/a/a.json",
        "three/a/a.json",
    ]
