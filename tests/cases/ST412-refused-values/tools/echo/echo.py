from dataclasses import dataclass
from enum import Enum


class Unit(Enum):
    METRE = "metre"
    FOOT = "foot"


@dataclass
class Place:
    city: str
    zone: int


def echo(unit: Unit, places: list[Place]):
    return unit, places
