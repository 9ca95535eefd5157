"""Tools that are in no tools directory, in the order of their precedence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

from sovl_tools import ToolDefinition
from sovl_tools.loading.import_errors import Unit, no_tools_found, unavailable
from sovl_tools.loading.origins import MODULES, PACKAGES, EntryPoints, OriginLoad, Package
from sovl_tools.model.catalog import Candidate
from sovl_tools.reloading.code_tools import Origins, Registrations
from tests.loading.folders import good

LOST = unavailable("it is gone", "here.py")


class Told:
    """An origin that gives one sight after the other, and equals all others of its name."""

    directory = None

    def __init__(self, name: str, sights: list[OriginLoad], level: int = PACKAGES) -> None:
        self.name = name
        self.sights = sights
        self.level = level

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Told) and self.name == other.name

    def __hash__(self) -> int:
        return hash(self.name)

    def look(self) -> OriginLoad:
        return self.sights.pop(0)


@cache
def seen_one(name: str) -> Candidate:
    return good(name, "/origin")._replace(location=f"module.{name}")


def seen(*names: str) -> tuple[Candidate, ...]:
    """Return candidates, those of one name of one object."""
    return tuple(map(seen_one, names))


def tell(name: str, *sights: Sequence[Candidate], level: int = PACKAGES) -> Told:
    return Told(name, [OriginLoad({name: tuple(each)}) for each in sights], level)


def definition(name: str = "echo") -> ToolDefinition:
    def function() -> None: ...

    return ToolDefinition(name, "Say.", {"type": "object", "properties": {}}, function)


def registered(registrations: Registrations) -> list[ToolDefinition | None]:
    return [each.definition for each in registrations.candidates()]


def test_what_is_registered_first_stays_first_unless_another_one_is_to_be() -> None:
    registrations = Registrations()
    one, two, three = definition(), definition(), definition()
    for each, is_first in ((one, False), (two, False), (three, True)):
        assert registrations.register(each, is_first=is_first).definition is each
    assert registered(registrations) == [three, one, two]


def test_each_registration_has_a_place_of_its_own() -> None:
    registrations = Registrations()
    one, two = definition(), definition()
    places = [registrations.register(each, is_first=False).location for each in (one, two)]
    name = f"{__name__}.definition.<locals>.function"
    assert places == [f"registered 1: {name}", f"registered 2: {name}"]
    assert [each.location for each in registrations.candidates()] == places


def test_what_is_registered_twice_is_entered_once() -> None:
    registrations = Registrations()
    one = definition()
    first = registrations.register(one, is_first=False)
    same = ToolDefinition(one.name, "Other words.", one.parameters, one.function)
    assert registrations.register(one, is_first=False) is first
    assert registrations.register(replace(one), is_first=False) is first
    assert registrations.register(same, is_first=False) is not first
    other = ToolDefinition("other", "Say.", one.parameters, one.function)
    assert registrations.register(other, is_first=False).definition is other
    assert registered(registrations) == [one, same, other]


def test_what_is_registered_again_to_be_the_first_is_entered_anew() -> None:
    registrations = Registrations()
    one, two = definition(), definition()
    registrations.register(one, is_first=False)
    registrations.register(two, is_first=False)
    again = ToolDefinition(two.name, "Other words.", two.parameters, two.function)
    assert registrations.register(again, is_first=True).definition is again
    assert registered(registrations) == [again, one]


def test_what_is_unsound_is_not_entered_and_takes_nothing_away() -> None:
    registrations = Registrations()
    one = definition()
    registrations.register(one, is_first=False)
    bad = ToolDefinition(one.name, "", one.parameters, one.function)
    for is_first in (True, False):
        other = ToolDefinition("two words", "", one.parameters, one.function)
        assert registrations.register(other, is_first=is_first).status == "rejected"
    assert registrations.register(bad, is_first=True).status == "rejected"
    assert registered(registrations) == [one]


def test_unregistering_takes_the_first_of_a_name_out() -> None:
    registrations = Registrations()
    one, two, other = definition(), definition(), definition("other")
    for each in (one, other, two):
        registrations.register(each, is_first=False)
    assert registrations.unregister("echo")
    assert registered(registrations) == [other, two]
    assert registrations.unregister("echo")
    assert not registrations.unregister("echo")
    assert registered(registrations) == [other]


def test_origins_are_ordered_by_level_and_then_as_they_were_named() -> None:
    origins = Origins()
    modules = tell("modules", seen("a", "d"), level=MODULES)
    first, second = tell("first", seen("b")), tell("second", seen("c", "b"))
    origins.look([modules, first, second])
    assert [each.name for each in origins.candidates(besides=())] == ["b", "c", "a", "d"]
    assert tuple(origins) == (modules, first, second)


def test_the_same_object_seen_at_two_origins_is_one_tool() -> None:
    origins = Origins()
    (one,) = seen("one")
    origins.look([tell("modules", [one], level=MODULES), tell("package", [one])])
    assert origins.candidates(besides=()) == [one]


def test_what_is_registered_by_hand_is_not_found_a_second_time() -> None:
    registrations, origins = Registrations(), Origins()
    one = definition()
    (known,) = (each._replace(definition=one) for each in seen("echo"))
    broken = known._replace(location="broken", definition=None, status="rejected")
    origins.look([tell("package", [known, broken])])
    registrations.register(one, is_first=False)
    assert [each.location for each in origins.candidates(besides=registrations.candidates())] == [
        "broken"
    ]
    registrations.unregister("echo")
    assert [each.location for each in origins.candidates(besides=registrations.candidates())] == [
        known.location,
        "broken",
    ]


def test_an_origin_is_looked_at_again_and_what_it_had_is_forgotten() -> None:
    origins = Origins()
    origin = tell("package", seen("a", "b"), seen("b", "c"))
    origins.look([origin])
    origins.look(origins)
    assert [each.name for each in origins.candidates(besides=())] == ["b", "c"]
    assert tuple(origins) == (origin,)


def test_origins_of_one_name_are_several_if_they_are_of_several_kinds() -> None:
    assert len({Package("x"), EntryPoints("x"), Package("x")}) == 2


def test_what_is_lost_from_sight_is_rejected_in_its_place() -> None:
    origins = Origins()
    kept, gone = seen("kept"), seen("gone")
    elsewhere = (good("other", "/origin")._replace(location="elsewhere.other"),)
    all_seen = OriginLoad({"one": (*kept, *elsewhere), "two": (*gone, *elsewhere)})
    lost = OriginLoad({"one": kept}, (LOST,), {"two": LOST})
    origins.look([Told("package", [all_seen, lost, lost])])
    for _ in range(2):
        origins.look(origins)
        first, found, other = origins.candidates(besides=())
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
    assert origins.diagnostics == (LOST,)


def test_what_is_wrong_with_origins_is_told_in_their_order() -> None:
    one, two = (no_tools_found(Unit("the module", path, "")) for path in ("one.py", "two.py"))
    origins = Origins()
    origins.look(
        [Told("a", [OriginLoad.of_problem(two)], MODULES), Told("b", [OriginLoad.of_problem(one)])]
    )
    assert origins.diagnostics == (two, one)


def test_an_origin_that_can_not_be_looked_at_disturbs_nobody() -> None:
    origins = Origins()
    origins.look([Told("empty", []), tell("sound", seen("a"))])
    assert [each.code for each in origins.diagnostics] == ["ST001"]
    assert [each.name for each in origins.candidates(besides=())] == ["a"]
