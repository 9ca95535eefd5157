"""The patched catalog is the one that combining everything anew would make."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sovl_tools.loading.combining import combine
from sovl_tools.loading.patching import Change, Claims, patched
from sovl_tools.loading.roster import Roster
from sovl_tools.loading.succeeding import successor
from sovl_tools.model.catalog import Candidate, Catalog, CatalogChange, Status
from tests.loading.folders import bad, good
from tests.validation.strategies import examples, moderate

PLACES = [(name, root) for root in ("one", "two") for name in "abc"]


class Outcome(NamedTuple):
    """What becomes of a folder in a test; ``again`` is what became of it the last time."""

    kind: Status | str
    phrases: tuple[str, ...] = ()
    actions: tuple[str, ...] = ()


class Plain:
    """Does what a roster does, always combining everything."""

    def __init__(self) -> None:
        self.candidates: dict[str, Candidate] = {}
        self.catalog = Catalog()

    def step(self, new: Iterable[Candidate], gone: Iterable[str], order: Iterable[str]) -> None:
        shown = dict(zip(self.candidates, self.catalog.candidates, strict=True))
        for location in gone:
            self.candidates.pop(location, None)
        for each in new:
            old = self.candidates.get(each.location)
            is_served = old is not None and shown[each.location].status == "loaded"
            after = each if old is None else successor(old, each, is_served=is_served)
            self.candidates[each.location] = after
        self.candidates = {each: self.candidates[each] for each in order if each in self.candidates}
        self.catalog = combine(self.candidates.values())
        pairs = zip(list(self.candidates), self.catalog.candidates, strict=True)
        self.candidates.update((place, each) for place, each in pairs if each.status == "loaded")


locations = st.sampled_from([bad(*place).location for place in PLACES])
kinds = ["loaded"] * 5 + ["rejected"] * 2 + ["again", "disabled", "unavailable", "waiting"]
phrases = ["say it", "Say, it!", "echo", "!"]
outcomes = st.builds(
    Outcome,
    st.sampled_from(kinds),
    st.lists(st.sampled_from(phrases), max_size=1).map(tuple),
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


def stepped(
    roster: Roster, plain: Plain, step: dict[str, Outcome | None], *, is_placing: bool
) -> CatalogChange:
    """Take both through a step and return what the roster says of it.

    ``is_placing`` says where new folders stand, rather than in which order all do.
    """
    gone = [location for location, outcome in step.items() if outcome is None]
    new = [
        made(location, outcome, plain.candidates.get(location))
        for location, outcome in sorted(step.items())
        if outcome is not None
    ]
    present = (plain.candidates.keys() | {each.location for each in new}) - {*gone}
    is_listing = present != plain.candidates.keys()
    plain.step(new, gone, sorted(present))
    changes = [change for each in gone for change in roster.left(each)]
    changes += [change for each in new for change in roster.entered(each)]
    if is_listing and is_placing:
        fresh = sorted({each.location for each in new} - roster.shown.keys())
        return roster.swap(changes, None, {each: sorted(present).index(each) for each in fresh})
    return roster.swap(changes, sorted(present) if is_listing else None)


@settings(moderate, max_examples=examples(200))
@given(sequence=st.lists(steps, max_size=12), is_placing=st.booleans())
def test_a_roster_is_what_combining_its_candidates_makes(
    sequence: list[dict[str, Outcome | None]], *, is_placing: bool
) -> None:
    roster, plain = Roster((), Catalog()), Plain()
    for step in sequence:
        before = roster.catalog
        change = stepped(roster, plain, step, is_placing=is_placing)
        assert roster.catalog == plain.catalog
        assert list(roster.catalog.tools) == sorted(plain.catalog.tools)
        assert list(roster.catalog.step_handlers) == sorted(plain.catalog.step_handlers)
        assert_says_what_happened(change, before, roster.catalog)
    assert_is_like_new(roster, plain)


def assert_says_what_happened(change: CatalogChange, before: Catalog, after: Catalog) -> None:
    old, new = before.tools, after.tools
    assert set(change.added) == new.keys() - old.keys()
    assert set(change.removed) == old.keys() - new.keys()
    others = {name for name in old.keys() & new.keys() if old[name] is not new[name]}
    assert others <= set(change.updated) <= old.keys() & new.keys()


def assert_is_like_new(roster: Roster, plain: Plain) -> None:
    """Compare a roster that has come a long way with one that knows only where it ended."""
    ended = list(plain.candidates.values())
    fresh = Roster(ended, combine(ended))
    assert roster.catalog == fresh.catalog
    assert list(roster.shown.items()) == list(fresh.shown.items())
    assert list(roster._candidates.items()) == list(fresh._candidates.items())
    assert roster._claims._holders == fresh._claims._holders


@settings(moderate, max_examples=examples(100))
@given(
    st.lists(st.dictionaries(st.sampled_from("abc"), outcomes, min_size=1, max_size=2), max_size=6)
)
def test_claims_go_back_to_what_they_were(sequence: list[dict[str, Outcome]]) -> None:
    claims = Claims(())
    candidates: dict[str, Candidate] = {}
    for step in sequence:
        new = {name: made(f"/absent/one/{name}", each, None) for name, each in step.items()}
        claims.follow([Change(candidates.get(name), each) for name, each in new.items()])
        candidates.update(new)
        assert claims._holders == Claims(candidates.values())._holders
    claims.follow([Change(each, None) for each in candidates.values()])
    assert not claims._holders


SAYING = good("a", phrases=("say it",), actions=("greet",))


@pytest.mark.parametrize(
    ("other", "is_contested"),
    [
        (good("b"), False),
        (good("b", phrases=("say",), actions=("wave",)), False),
        (good("b", phrases=("!", "?")), False),
        (good("a", "two"), True),
        (bad("a", "two"), True),
        (good("b", actions=("greet",)), True),
        (good("b", phrases=("Say, it!",)), True),
        (bad("b")._replace(previous=good("b", actions=("greet",))), True),
        (bad("b")._replace(actions=("greet",)), False),
    ],
    ids=[
        "nothing", "others", "wordless phrases", "name", "name of a broken one", "action",
        "phrase", "action of the last good version", "action of a broken one",
    ],
)  # fmt: skip
def test_a_change_is_contested_if_another_claims_the_same(
    other: Candidate, *, is_contested: bool
) -> None:
    claims = Claims([SAYING])
    assert claims.follow([Change(None, other)]) is is_contested
    assert claims.follow([Change(other, None)]) is is_contested
    assert claims.follow([Change(SAYING, None)]) is False


def test_of_two_changes_one_may_contest_the_other() -> None:
    both = [Change(None, SAYING), Change(None, good("b", actions=("greet",)))]
    assert Claims(()).follow(both)


def test_a_claim_that_two_versions_of_one_tool_make_counts_once() -> None:
    candidate = good("a", phrases=("say it", "Say it!"))
    twice = candidate._replace(previous=good("a", phrases=("say it",)))
    assert Claims(()).follow([Change(None, twice)]) is False


def test_what_a_patch_does_not_concern_stays_the_same_object() -> None:
    catalog = combine([SAYING])
    broken = bad("b")
    after = patched(catalog, [Change(None, broken)], (SAYING, broken))
    assert after.tools is catalog.tools
    assert after.step_handlers is catalog.step_handlers
    assert after.unavailable == {"b": broken.reasons}


def test_a_patch_takes_away_what_the_new_version_does_not_bring() -> None:
    new = good("a", actions=("bow",))
    after = patched(combine([SAYING]), [Change(SAYING, new)], (new,))
    assert list(after.step_handlers) == ["bow"]
    assert after == combine([new])


def test_a_parsed_tool_is_no_tool_for_a_patch_either() -> None:
    parsed = good("a")._replace(definition=None)
    assert patched(Catalog(), [Change(None, parsed)], (parsed,)).tools == combine([parsed]).tools
