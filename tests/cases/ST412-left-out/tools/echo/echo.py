from dataclasses import dataclass


@dataclass
class Place:
    city: str


def echo(place: Place):
    return place
