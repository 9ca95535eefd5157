"""New members of an object, put where they belong."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sovl_tools.model.document import JSON


def placed(
    document: Mapping[str, JSON], key: str, value: JSON, *, after: Iterable[str]
) -> dict[str, JSON]:
    """Return an object with a member: where it is, or else after those that are there."""
    if key in document:
        return {**document, key: value}
    keys = list(document)
    before = [keys.index(each) for each in after if each in document]
    keys.insert(max(before, default=-1) + 1, key)
    return {each: value if each == key else document[each] for each in keys}


def with_new(
    document: Mapping[str, JSON], members: Mapping[str, JSON], *, after: Iterable[str] = ()
) -> dict[str, JSON]:
    """Return an object with those members that it lacks, in their order; what is there stays."""
    found, earlier = dict(document), [*after]
    for key, value in members.items():
        if key not in found:
            found = placed(found, key, value, after=earlier)
        earlier.append(key)
    return found


def overwrite(document: dict[str, JSON], found: Mapping[str, JSON]) -> None:
    """Let an object hold other members: the very object, which others hold."""
    members = dict(found)
    document.clear()
    document.update(members)
