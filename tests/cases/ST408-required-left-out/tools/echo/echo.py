from dataclasses import dataclass


@dataclass
class Place:
    city: str


def echo(place: Place, units: list[Place]):
    return place, units
