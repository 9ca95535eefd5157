"""The changes between two versions of tools: for callers, for readers of results, in words."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

from sovl_tools.loading.interface import parse_module
from sovl_tools.loading.pipeline import load_folder
from sovl_tools.loading.rules.folder import Unreadable
from sovl_tools.loading.sources import read_manifest, take_snapshot
from sovl_tools.model.definition import deprecation
from sovl_tools.model.document import JSON
from sovl_tools.model.folder import Settings, ToolFolder
from sovl_tools.schema.comparison import Difference
from sovl_tools.schema.comparison import compare as compare_schemas
from sovl_tools.schema.keywords import COMBINING
from sovl_tools.schema.names import REPLACED_BY
from sovl_tools.schema.subschemas import SchemaNode, follow, nodes

Kind: TypeAlias = Literal["breaking", "compatible", "wording"]
KINDS: tuple[Kind, ...] = ("breaking", "compatible", "wording")
Status: TypeAlias = Literal["added", "removed", "changed", "renamed"]

_COMPARED_APART = frozenset(
    {
        *("$schema", "name", "parameters", "output_schema", "annotations", "activation_phrases"),
        *("aliases", "deprecated", "replaced_by", "removed_in"),
    }
)
_WORDS = frozenset({"title", "description", "instructions", "examples"})
_LONGEST = 60


class Change(NamedTuple):
    """One thing that has changed in a tool, in words."""

    kind: Kind
    message: str


@dataclass(frozen=True, slots=True)
class ToolVersion:
    """A tool on one of the two sides.

    Attributes:
        document: its manifest.
        phrases: its activation phrases, from the manifest and the module.
        actions: the kinds of steps that it brings.
        code: the hash of its Python files.
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
    def aliases(self) -> tuple[str, ...]:
        """Its former names."""
        return tuple(self.document.get("aliases", ()))

    @property
    def deprecation(self) -> str:
        """What its manifest says if it is deprecated; otherwise ""."""
        return deprecation(self.document)

    @property
    def parameters(self) -> dict[str, JSON]:
        """The schema of valid calls: other properties are rejected unless it is open."""
        schema: dict[str, JSON] = self.document["parameters"]
        if self.is_open or not COMBINING.isdisjoint(schema):
            return schema
        return {**schema, "additionalProperties": False}


class ToolChange(NamedTuple):
    """A tool that is not the same on both sides.

    Attributes:
        name: the tool's name; the new one if it was renamed.
        status: whether it is on one side only, or has another name.
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
        if self.new is None or self.old is None:
            return self.new is not None
        return _reaches(self.new, self.old) and not _reaches(self.old, self.new)

    @property
    def is_broken(self) -> bool:
        """Whether a change breaks callers although the version doesn't say so."""
        return not self.is_raised and any(each.kind == "breaking" for each in self.changes)


def versions_of(folders: Iterable[ToolFolder]) -> dict[str, ToolVersion]:
    """Return the tools of folders that can be offered, by their names, without importing them."""
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


def compare(
    old: Mapping[str, ToolVersion], new: Mapping[str, ToolVersion], *, release: str | None = None
) -> list[ToolChange]:
    """Return the tools that differ, in the order of their names.

    ``release`` is the version of the new side, which is compared with ``removed_in``.
    """
    found = []
    was, leads = _names(old), _names(new)
    followed = {leads.get(name) for name in old}
    for name in sorted({*old, *(new.keys() - followed)}):
        before, current = old.get(name), leads.get(name, "")
        now = new.get(current)
        if before is None and now is not None:
            change = Change("compatible", "the tool is new")
            found.append(ToolChange(name, "added", None, now.version, (change,)))
        elif before is not None and now is None:
            change = _removal(before, release)
            found.append(ToolChange(name, "removed", before.version, None, (change,)))
        elif before is not None and now is not None:
            changes = [*_changes(before, now)]
            gone = [each for each in was if was[each] == name and leads.get(each) != current]
            changes += [Change("breaking", f"the alias {each!r} is gone") for each in gone]
            status: Status = "changed"
            if current != name:
                status = "renamed"
                changes.append(Change("compatible", f"the name is {current!r}, {name!r} an alias"))
            every = sorted(dict.fromkeys(changes), key=lambda each: KINDS.index(each.kind))
            if every:
                versions = before.version, now.version
                found.append(ToolChange(name, status, *versions, tuple(every)))
    return found


def _names(versions: Mapping[str, ToolVersion]) -> dict[str, str]:
    """Return the tool that each name and each alias leads to."""
    found = {name: name for name in versions}
    for name, each in versions.items():
        for alias in each.aliases:
            found.setdefault(alias, name)
    return found


def _removal(tool: ToolVersion, release: str | None) -> Change:
    """Return the change that a tool is gone: it breaks callers unless it was deprecated."""
    if not tool.deprecation:
        return Change("breaking", "the tool is gone, disabled or broken")
    planned = tool.document.get("removed_in")
    if planned is None:
        return Change("compatible", "the tool is gone, which was deprecated")
    if release is not None and _reaches(release, planned):
        return Change("compatible", f"the tool is gone, as announced for {planned}")
    reason = f"this is {release}" if release else f"use --release if this is {planned} or later"
    return Change("breaking", f"the tool is gone before {planned}; {reason}")


def _reaches(version: str, other: str) -> bool:
    """Return True if a version isn't lower than another, as PEP 440 orders them."""
    from packaging.version import InvalidVersion, Version  # noqa: PLC0415 - 10 ms

    try:
        return Version(version) >= Version(other)
    except InvalidVersion:
        return version == other


def _changes(old: ToolVersion, new: ToolVersion) -> Iterator[Change]:
    yield from _parameter_changes(old, new)
    yield from _output_changes(old, new)
    yield from _hint_changes(old, new)
    if old.deprecation != new.deprecation:
        yield Change("compatible", new.deprecation or "it isn't deprecated anymore")
    for alias in sorted({*new.aliases} - {*old.aliases, old.document.get("name")}):
        yield Change("compatible", f"the alias {alias!r} is new")
    for key in sorted((old.document.keys() | new.document.keys()) - _COMPARED_APART):
        if old.document.get(key) != new.document.get(key):
            yield Change("wording" if key in _WORDS else "compatible", f"{key} changed")
    if old.phrases != new.phrases:
        yield Change("wording", "activation_phrases changed")
    for action in sorted({*old.actions} - {*new.actions}):
        yield Change("breaking", f"the action {action!r} is gone")
    for action in sorted({*new.actions} - {*old.actions}):
        yield Change("compatible", f"the action {action!r} is new")
    if old.code != new.code:
        yield Change("compatible", "the code changed")


def _parameter_changes(old: ToolVersion, new: ToolVersion) -> Iterator[Change]:
    """Yield the changes in the arguments: narrower ones break callers."""
    before, now = old.parameters, new.parameters
    narrower, wider = compare_schemas(before, now)
    found = [*_described(narrower, is_narrower=True)]
    if not new.is_open:
        # a combined schema may accept it although the function doesn't take it
        taken = now.get("properties", {})
        gone = [name for name in before.get("properties", {}) if name not in taken]
        found += [f"{name!r} is not taken anymore" for name in gone]
    yield from _in_order(found, [*_described(wider, is_narrower=False)])
    yield from _annotation_changes("parameters", old, new)


def _output_changes(old: ToolVersion, new: ToolVersion) -> Iterator[Change]:
    """Yield the changes in the results: wider ones break their readers."""
    before, now = (each.document.get("output_schema") for each in (old, new))
    if before is None or now is None:
        if before is not None:
            yield Change("breaking", "output_schema is gone")
        if now is not None:
            yield Change("compatible", "output_schema is new")
        return
    narrower, wider = compare_schemas(before, now)
    yield from _in_order(
        [f"output: {words}" for words in _described(wider, is_narrower=False)],
        [f"output: {words}" for words in _described(narrower, is_narrower=True)],
    )
    yield from _annotation_changes("output_schema", old, new)


def _in_order(breaking: list[str], compatible: list[str]) -> Iterator[Change]:
    yield from (Change("breaking", each) for each in breaking)
    # a place that is both narrower and wider is reported once
    yield from (Change("compatible", each) for each in compatible if each not in breaking)


def _annotation_changes(key: str, old: ToolVersion, new: ToolVersion) -> Iterator[Change]:
    """Yield changed defaults and descriptions of the subschemas that both versions have."""
    ours, theirs = (
        {node.path: node for node in nodes(each.document[key], ())} for each in (old, new)
    )
    both = [(ours[path], theirs[path]) for path in ours.keys() & theirs.keys()]
    kinds: tuple[tuple[Kind, str, tuple[str, ...]], ...] = (
        ("compatible", "defaults", ("default",)),
        ("compatible", "deprecations", ("deprecated", REPLACED_BY)),
        ("wording", "descriptions", ("title", "description", "examples")),
    )
    for kind, words, keywords in kinds:
        if any(_said(one, each) != _said(other, each) for one, other in both for each in keywords):
            yield Change(kind, f"{words} in {key} changed")


def _said(node: SchemaNode, keyword: str) -> JSON:
    """Return a subschema's value of a keyword, or else its reference's target's."""
    target = follow(node.schema, node.root)
    found = node.schema if keyword in node.schema or not isinstance(target, dict) else target
    return found.get(keyword)


_PROMISES = {"read_only": True, "idempotent": True, "destructive": False, "open_world": False}
"""The values that callers rely on; an annotation that is missing counts as false."""


def _hint_changes(old: ToolVersion, new: ToolVersion) -> Iterator[Change]:
    """Yield the annotations that changed: callers break if a promise is no longer true."""
    before, now = (each.document.get("annotations", {}) for each in (old, new))
    for key, promise in _PROMISES.items():
        was, is_ = before.get(key, False), now.get(key, False)
        if was != is_:
            kind: Kind = "breaking" if was is promise else "compatible"
            yield Change(kind, f"{key} is {_shown(is_)}, was {_shown(was)}")


_WORDS_OF = {
    ("properties", True): "is not taken anymore",
    ("properties", False): "is new",
    ("alternatives", True): "takes an alternative less",
    ("alternatives", False): "takes an alternative more",
    ("additionalProperties", True): "takes only the listed properties",
    ("additionalProperties", False): "takes more than is listed",
}


def _described(found: Iterable[Difference], *, is_narrower: bool) -> Iterator[str]:
    """Yield the differences in words; the new schema is narrower in them, or wider."""
    for each in found:
        if each.keyword == "required":
            words = "is required now" if is_narrower else "is not required anymore"
            names = (f"{each.name}.{name}" if each.name else name for name in each.narrow)
            yield from (f"{name!r} {words}" for name in names)
        else:
            yield _change_in_words(each, is_narrower=is_narrower)


def _change_in_words(each: Difference, *, is_narrower: bool) -> str:
    place = repr(each.name) if each.name else "the whole"
    words = _WORDS_OF.get((each.keyword, is_narrower))
    if words is not None and not isinstance(each.narrow, dict):
        return f"{place} {words}"
    if each.keyword == "properties":
        words = f"is {_shown(each.narrow)}, was anything"
        return f"{place} {words if is_narrower else f'is anything, was {_shown(each.narrow)}'}"
    if each.narrow is None and each.values:
        values = ", ".join(map(_shown, each.values))
        return f"{place}: {values} is {'not taken anymore' if is_narrower else 'new'}"
    old, new = (each.wide, each.narrow) if is_narrower else (each.narrow, each.wide)
    words = f"{each.keyword} is {_shown(new)}, was {_shown(old)}"
    if old is None:
        words = f"{each.keyword} {_shown(new)} is new"
    elif new is None:
        words = f"{each.keyword} {_shown(old)} is gone"
    return f"{place}: {words}" if old != new else f"{place} can't be compared"


def _shown(value: JSON) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
