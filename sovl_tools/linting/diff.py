"""What has changed between two versions of tools: for callers, for readers of results, in words."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

from sovl_tools.loading.interface import parse_module
from sovl_tools.loading.pipeline import load_folder
from sovl_tools.loading.rules.folder import Unreadable
from sovl_tools.loading.sources import read_manifest, take_snapshot
from sovl_tools.model.document import JSON
from sovl_tools.model.folder import Settings, ToolFolder
from sovl_tools.schema.inclusion import Narrowing, narrowings
from sovl_tools.schema.keywords import COMBINING
from sovl_tools.schema.subschemas import nodes

Kind: TypeAlias = Literal["breaking", "compatible", "documentation"]
KINDS: tuple[Kind, ...] = ("breaking", "compatible", "documentation")
Status: TypeAlias = Literal["added", "removed", "changed"]

_OTHERWISE = frozenset({"parameters", "output_schema", "activation_phrases"})
_WORDS = ("title", "description", "instructions", "examples", "$schema")
_LONGEST = 60


class Change(NamedTuple):
    """One thing that has changed in a tool, in words."""

    kind: Kind
    message: str


@dataclass(frozen=True, slots=True)
class ToolVersion:
    """A tool as one of the two sides has it.

    Attributes:
        document: its manifest.
        phrases: what it is activated by, wherever that is written.
        actions: the kinds of steps that it brings.
        code: what its Python files are known by.
        is_open: whether its function takes arguments that the manifest doesn't list.
    """

    document: Mapping[str, JSON]
    phrases: tuple[str, ...] = ()
    actions: tuple[str, ...] = ()
    code: str = ""
    is_open: bool = False

    @property
    def version(self) -> str | None:
        """What its manifest says."""
        version: str | None = self.document.get("version")
        return version

    @property
    def parameters(self) -> dict[str, JSON]:
        """The schema that calls are checked with: nothing else is taken unless it is open."""
        schema: dict[str, JSON] = self.document["parameters"]
        if self.is_open or not COMBINING.isdisjoint(schema):
            return schema
        return {**schema, "additionalProperties": False}


class ToolChange(NamedTuple):
    """A tool that is not the same on both sides.

    Attributes:
        name: the tool's name.
        status: whether it is on one side only.
        old: its version before, if it has one.
        new: its version now, likewise.
        changes: breaking ones first.
    """

    name: str
    status: Status
    old: str | None
    new: str | None
    changes: tuple[Change, ...]

    @property
    def is_raised(self) -> bool:
        """Whether the version is higher than before, as PEP 440 orders them; none is lowest."""
        from packaging.version import InvalidVersion, Version  # noqa: PLC0415 - 10 ms

        try:
            return self.new is not None and (
                self.old is None or Version(self.new) > Version(self.old)
            )
        except InvalidVersion:
            return False

    @property
    def is_broken(self) -> bool:
        """Whether something breaks although the version says nothing of it."""
        return not self.is_raised and any(each.kind == "breaking" for each in self.changes)


def versions_of(folders: Iterable[ToolFolder]) -> dict[str, ToolVersion]:
    """Return the tools of folders that can be offered, by their names. Nothing is imported."""
    found: dict[str, ToolVersion] = {}
    for folder in folders:
        candidate = load_folder(folder, Settings(imports=False))
        reading, snapshot = read_manifest(folder), take_snapshot(folder)
        if candidate.status not in {"loaded", "unavailable"} or folder.name in found:
            continue
        if isinstance(reading, Unreadable) or isinstance(snapshot, Unreadable):
            continue  # it has changed meanwhile
        if reading.manifest is None:
            continue
        signature = parse_module(snapshot.main, folder.name).signature
        found[folder.name] = ToolVersion(
            reading.manifest.document,
            candidate.phrases,
            candidate.actions,
            snapshot.digest,
            signature is not None and signature.takes_any_keyword,
        )
    return found


def compare(old: Mapping[str, ToolVersion], new: Mapping[str, ToolVersion]) -> list[ToolChange]:
    """Return the tools that differ, in the order of their names."""
    found = []
    for name in sorted({*old, *new}):
        before, now = old.get(name), new.get(name)
        if before is None and now is not None:
            change = Change("compatible", "the tool is new")
            found.append(ToolChange(name, "added", None, now.version, (change,)))
        elif before is not None and now is None:
            change = Change("breaking", "the tool is gone, disabled or broken")
            found.append(ToolChange(name, "removed", before.version, None, (change,)))
        elif before is not None and now is not None:
            every = sorted(
                dict.fromkeys(_changes(before, now)), key=lambda each: KINDS.index(each.kind)
            )
            if every:
                versions = before.version, now.version
                found.append(ToolChange(name, "changed", *versions, tuple(every)))
    return found


def _changes(old: ToolVersion, new: ToolVersion) -> Iterator[Change]:
    yield from _schema_changes("parameters", old, new)
    yield from _schema_changes("output_schema", old, new)
    for key in sorted((old.document.keys() | new.document.keys()) - _OTHERWISE):
        if old.document.get(key) != new.document.get(key):
            is_word = key in _WORDS or key.startswith("x-")
            yield Change("documentation" if is_word else "compatible", f"{key} changed")
    if old.phrases != new.phrases:
        yield Change("documentation", "activation_phrases changed")
    for action in sorted({*old.actions} - {*new.actions}):
        yield Change("breaking", f"the action {action!r} is gone")
    for action in sorted({*new.actions} - {*old.actions}):
        yield Change("compatible", f"the action {action!r} is new")
    if old.code != new.code:
        yield Change("compatible", "the code changed")


def _schema_changes(key: str, old: ToolVersion, new: ToolVersion) -> Iterator[Change]:
    """Yield what has changed in what a schema admits, and what it says besides."""
    is_output = key == "output_schema"
    before, now = (
        each.document.get(key, {}) if is_output else each.parameters for each in (old, new)
    )
    found: list[Change] = []
    # callers notice what is narrower, readers of results what they may get now and did not before
    for is_narrower in (not is_output, is_output):
        kind: Kind = "breaking" if is_narrower is not is_output else "compatible"
        for each in narrowings(before, now) if is_narrower else narrowings(now, before):
            words = _described(each, is_narrower=is_narrower)
            found.append(Change(kind, f"output: {words}" if is_output else words))
    if not is_output and not new.is_open:
        # a combined schema may admit it, and yet nobody takes it
        taken = now.get("properties", {})
        gone = [name for name in before.get("properties", {}) if name not in taken]
        found += [Change("breaking", f"{name!r} is not taken any more") for name in gone]
    breaking = {each.message for each in found if each.kind == "breaking"}
    # what is neither narrower nor wider would be reported twice
    kept = [each for each in found if each.kind == "breaking" or each.message not in breaking]
    before, now = old.document.get(key), new.document.get(key)
    if _differ(before, now, ("default",)):
        kept.append(Change("compatible", f"defaults in {key} changed"))
    if _differ(before, now, ("title", "description", "examples")):
        kept.append(Change("documentation", f"descriptions in {key} changed"))
    if before != now and not kept:
        kept.append(Change("compatible", f"{key} is written otherwise"))
    yield from kept


def _differ(old: JSON, new: JSON, keywords: tuple[str, ...]) -> bool:
    """Tell whether subschemas that are on both sides say something else under some keywords."""
    ours, theirs = (
        {each.path: each.schema for each in nodes(side, ())} if isinstance(side, dict) else {}
        for side in (old, new)
    )
    return any(
        ours[path].get(key) != theirs[path].get(key)
        for path in ours.keys() & theirs.keys()
        for key in keywords
    )


_WORDS_OF = {
    ("required", True): "is required now",
    ("required", False): "is not required any more",
    ("properties", True): "is not taken any more",
    ("properties", False): "is new",
    ("alternatives", True): "takes an alternative less",
    ("alternatives", False): "takes an alternative more",
    ("additionalProperties", True): "takes nothing more than is listed",
    ("additionalProperties", False): "takes more than is listed",
}


def _described(each: Narrowing, *, is_narrower: bool) -> str:
    """Return what has changed at a place, in which the new schema is narrower or wider."""
    place = repr(each.name) if each.name else "the whole"
    words = _WORDS_OF.get((each.keyword, is_narrower))
    if words is not None and not isinstance(each.narrow, dict):
        return f"{place} {words}"
    old, new = (each.wide, each.narrow) if is_narrower else (each.narrow, each.wide)
    if old is None and new is None:
        return f"{place} can't be compared"
    if old is None:
        return f"{place}: {each.keyword} {_shown(new)} is new"
    if new is None:
        return f"{place}: {each.keyword} {_shown(old)} is gone"
    return f"{place}: {each.keyword} is {_shown(new)}, was {_shown(old)}"


def _shown(value: JSON) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
