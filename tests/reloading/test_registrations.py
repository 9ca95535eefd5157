"""Tools that are in no tools directory, in the order of their precedence."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from sovl_tools import ToolDefinition
from sovl_tools.loading.origins import PACKAGES, OriginLoad
from sovl_tools.loading.plugins import EntryPoints, Package
from sovl_tools.model.catalog import Candidate
from sovl_tools.reloading.code_tools import Origins, Registrations
from tests.loading.folders import good


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


def test_each_registration_has_a_place_of_its_own() -> None:
    registrations = Registrations()
    one, two = definition(), definition()
    places = [registrations.register(each, is_first=False).location for each in (one, two)]
    name = f"{__name__}.definition.<locals>.function"
    assert places == [f"registered 1: {name}", f"registered 2: {name}"]
    assert [each.location for each in registrations.candidates()] == places


def test_what_is_registered_again_to_be_the_first_is_entered_anew() -> None:
    registrations = Registrations()
    one, two = definition(), definition()
    registrations.register(one, is_first=False)
    registrations.register(two, is_first=False)
    again = ToolDefinition(two.name, "Other words.", two.parameters, two.function)
    assert registrations.register(again, is_first=True).definition is again
    assert registered(registrations) == [again, one]


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


def test_origins_of_one_name_are_several_if_they_are_of_several_kinds() -> None:
    assert len({Package("x"), EntryPoints("x"), Package("x")}) == 2


def test_an_origin_that_can_not_be_looked_at_disturbs_nobody() -> None:
    origins = Origins()
    origins.look([Told("empty", []), tell("sound", seen("a"))])
    assert [each.code for each in origins.diagnostics] == ["ST001"]
    assert [each.name for each in origins.candidates(besides=())] == ["a"]
