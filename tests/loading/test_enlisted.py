"""Tools that are in no tools directory, in the order of their precedence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import pytest

from sovl_tools import ToolDefinition
from sovl_tools.loading.checks import code
from sovl_tools.loading.enlisted import Enlisted
from sovl_tools.loading.mishaps import Unit, empty, mishap
from sovl_tools.loading.origins import MODULES, PACKAGES, EntryPoints, Package, Sight
from sovl_tools.model.catalog import Candidate
from tests.loading.folders import good

LOST = mishap(code.unavailable_source, "it is gone", "here.py")


class Told:
    """An origin that gives one sight after the other, and equals all others of its name."""

    directory = None

    def __init__(self, name: str, sights: list[Sight], level: int = PACKAGES) -> None:
        self.name = name
        self.sights = sights
        self.level = level

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Told) and self.name == other.name

    def __hash__(self) -> int:
        return hash(self.name)

    def look(self) -> Sight:
        return self.sights.pop(0)


class Other(Told):
    """One that is equal to another of its name."""


@cache
def seen_one(name: str) -> Candidate:
    return good(name, "/origin")._replace(location=f"module.{name}")


def seen(*names: str) -> tuple[Candidate, ...]:
    """Return candidates, those of one name of one object."""
    return tuple(map(seen_one, names))


def tell(name: str, *sights: Sequence[Candidate], level: int = PACKAGES) -> Told:
    return Told(name, [Sight({name: tuple(each)}) for each in sights], level)


def definition(name: str = "echo") -> ToolDefinition:
    def function() -> None: ...

    return ToolDefinition(name, "Say.", {"type": "object", "properties": {}}, function)


def registered(enlisted: Enlisted) -> list[ToolDefinition | None]:
    return [each.definition for each in enlisted.before_folders().values()]


def test_what_is_registered_first_stays_first_unless_another_one_is_to_be() -> None:
    enlisted = Enlisted()
    one, two, three = definition(), definition(), definition()
    for each, is_first in ((one, False), (two, False), (three, True)):
        assert enlisted.register(each, is_first=is_first).definition is each
    assert registered(enlisted) == [three, one, two]


def test_each_registration_has_a_place_of_its_own() -> None:
    enlisted = Enlisted()
    one, two = definition(), definition()
    places = [enlisted.register(each, is_first=False).location for each in (one, two)]
    name = f"{__name__}.definition.<locals>.function"
    assert places == [f"registered 1: {name}", f"registered 2: {name}"]
    assert list(enlisted.before_folders()) == places


def test_what_is_registered_twice_is_entered_once() -> None:
    enlisted = Enlisted()
    one = definition()
    first = enlisted.register(one, is_first=False)
    same = ToolDefinition(one.name, "Other words.", one.parameters, one.function)
    assert enlisted.register(one, is_first=False) is first
    assert enlisted.register(replace(one), is_first=False) is first
    assert enlisted.register(same, is_first=False) is not first
    other = ToolDefinition("other", "Say.", one.parameters, one.function)
    assert enlisted.register(other, is_first=False).definition is other
    assert registered(enlisted) == [one, same, other]


def test_what_is_registered_again_to_be_the_first_is_entered_anew() -> None:
    enlisted = Enlisted()
    one, two = definition(), definition()
    enlisted.register(one, is_first=False)
    enlisted.register(two, is_first=False)
    again = ToolDefinition(two.name, "Other words.", two.parameters, two.function)
    assert enlisted.register(again, is_first=True).definition is again
    assert registered(enlisted) == [again, one]


def test_what_is_unsound_is_not_entered_and_takes_nothing_away() -> None:
    enlisted = Enlisted()
    one = definition()
    enlisted.register(one, is_first=False)
    bad = ToolDefinition(one.name, "", one.parameters, one.function)
    for is_first in (True, False):
        other = ToolDefinition("two words", "", one.parameters, one.function)
        assert enlisted.register(other, is_first=is_first).status == "rejected"
    assert enlisted.register(bad, is_first=True).status == "rejected"
    assert registered(enlisted) == [one]


def test_unregistering_takes_the_first_of_a_name_out() -> None:
    enlisted = Enlisted()
    one, two, other = definition(), definition(), definition("other")
    for each in (one, other, two):
        enlisted.register(each, is_first=False)
    assert len(enlisted.unregister("echo")) == 1
    assert registered(enlisted) == [other, two]
    assert len(enlisted.unregister("echo")) == 1
    assert enlisted.unregister("echo") == []
    assert registered(enlisted) == [other]


def test_origins_are_ordered_by_level_and_then_as_they_were_named() -> None:
    enlisted = Enlisted()
    modules = tell("modules", seen("a", "d"), level=MODULES)
    first, second = tell("first", seen("b")), tell("second", seen("c", "b"))
    enlisted.look([modules, first, second])
    assert [each.name for each in enlisted.after_folders().values()] == ["b", "c", "a", "d"]
    assert enlisted.origins == (modules, first, second)


def test_the_same_object_seen_at_two_origins_is_one_tool() -> None:
    enlisted = Enlisted()
    (one,) = seen("one")
    enlisted.look([tell("modules", [one], level=MODULES), tell("package", [one])])
    assert enlisted.after_folders() == {one.location: one}


def test_what_is_registered_by_hand_is_not_found_a_second_time() -> None:
    enlisted = Enlisted()
    one = definition()
    (known,) = (each._replace(definition=one) for each in seen("echo"))
    broken = known._replace(location="broken", definition=None, status="rejected")
    enlisted.look([tell("package", [known, broken])])
    enlisted.register(one, is_first=False)
    assert list(enlisted.after_folders()) == ["broken"]
    enlisted.unregister("echo")
    assert list(enlisted.after_folders()) == [known.location, "broken"]


def test_an_origin_is_looked_at_again_and_what_it_had_is_forgotten() -> None:
    enlisted = Enlisted()
    origin = tell("package", seen("a", "b"), seen("b", "c"))
    enlisted.look([origin])
    enlisted.look(enlisted.origins)
    assert [each.name for each in enlisted.after_folders().values()] == ["b", "c"]
    assert enlisted.origins == (origin,)


def test_origins_of_one_name_are_several_if_they_are_of_several_kinds() -> None:
    assert Package("x") == EntryPoints("x")  # type: ignore[comparison-overlap]  # that is the trap
    one, other = tell("x", seen("a")), Other("x", [Sight({"x": seen("b")})])
    enlisted = Enlisted()
    enlisted.look([one])
    enlisted.look([other])
    assert [type(each) for each in enlisted.origins] == [Told, Other]
    assert [each.name for each in enlisted.after_folders().values()] == ["a", "b"]


def test_what_is_lost_from_sight_is_rejected_in_its_place() -> None:
    enlisted = Enlisted()
    kept, gone = seen("kept"), seen("gone")
    elsewhere = (good("other", "/origin")._replace(location="elsewhere.other"),)
    all_seen = Sight({"one": (*kept, *elsewhere), "two": (*gone, *elsewhere)})
    lost = Sight({"one": kept}, (LOST,), {"two": LOST})
    enlisted.look([Told("package", [all_seen, lost, lost])])
    for _ in range(2):
        enlisted.look(enlisted.origins)
        first, found, other = enlisted.after_folders().values()
        assert (first, other.status) == (*kept, "rejected")
        assert found == Candidate(
            "gone",
            "here.py",
            gone[0].location,
            "rejected",
            reasons=(str(LOST),),
            line=1,
            column=1,
        )
    assert enlisted.diagnostics == (LOST,)


def test_what_is_wrong_with_origins_is_told_in_their_order() -> None:
    one, two = (empty(Unit("the module", path, "")) for path in ("one.py", "two.py"))
    enlisted = Enlisted()
    enlisted.look([Told("a", [Sight.of_problem(two)], MODULES), Told("b", [Sight.of_problem(one)])])
    assert enlisted.diagnostics == (two, one)


def test_an_origin_that_can_not_be_looked_at_is_not_known() -> None:
    enlisted = Enlisted()
    with pytest.raises(IndexError):
        enlisted.look([Told("empty", [])])
    assert (enlisted.origins, enlisted.after_folders()) == ((), {})


def test_what_came_and_went_is_told_once() -> None:
    enlisted = Enlisted()
    one, two, three = definition(), definition(), definition("other")
    places = [enlisted.register(each, is_first=False).location for each in (one, two)]
    first = enlisted.register(three, is_first=True).location
    news = enlisted.news()
    assert news is not None
    assert [each.definition for each in news.candidates] == [one, two, three]
    assert news.indexes == {places[0]: 0, places[1]: 1, first: 0}
    assert news.gone == []
    enlisted.register(one, is_first=True)
    enlisted.unregister("other")
    news = enlisted.news()
    assert news is not None
    assert news.gone == [places[0], first]
    assert [each.definition for each in news.candidates] == [one]
    assert enlisted.news() == ([], {}, [])


def test_what_origins_have_is_looked_at_again_if_it_comes_or_goes_by_hand() -> None:
    enlisted = Enlisted()
    one = definition()
    (known,) = (each._replace(definition=one) for each in seen("echo"))
    enlisted.look([tell("package", [known])])
    assert enlisted.news() is None
    enlisted.look([])
    enlisted.register(definition(), is_first=False)
    assert enlisted.news() is not None
    for change in (
        lambda: enlisted.register(one, is_first=True),
        lambda: enlisted.unregister("echo"),
    ):
        change()
        assert enlisted.news() is None
