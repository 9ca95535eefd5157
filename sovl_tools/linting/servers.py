"""Findings about definitions of tools in a file, and differences between two such files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from sovl_tools.formats.export import Target
from sovl_tools.formats.foreign import Flaw, ForeignTool, ProviderTool, definitions_in
from sovl_tools.formats.mcp import HINTS
from sovl_tools.linting.diff import ToolChange, ToolVersion, compare
from sovl_tools.loading.exporting import exported
from sovl_tools.loading.jsontext import Places, line_and_column
from sovl_tools.loading.rules import description, manifest, schema, server
from sovl_tools.loading.rules.formats import BY_KIND, FormatCase
from sovl_tools.loading.rules.manifest import ManifestCase
from sovl_tools.model.aliases import PARAMETERS
from sovl_tools.model.diagnostic import Diagnostic, Finding, ManifestPlace, Verdict, ask, has_errors
from sovl_tools.model.document import JSON, Path, canonical, json_text, value_at
from sovl_tools.model.folder import ToolFolder
from sovl_tools.remote.snapshot import LISTS, Snapshot
from sovl_tools.schema.engine import published

_OUTPUT = ("outputSchema", "output_schema")


class Listed(NamedTuple):
    """A tool in a file of definitions.

    Attributes:
        tool: the tool.
        raw: its definition, unchanged.
    """

    tool: ForeignTool
    raw: Mapping[str, JSON]

    @property
    def document(self) -> dict[str, JSON]:
        """A manifest of the same content."""
        found: dict[str, JSON] = {"name": self.tool.name, "parameters": self.tool.parameters}
        for key in ("description", "title", "output_schema", "annotations"):
            value = getattr(self.tool, key)
            if value:
                found[key] = dict(value) if key == "annotations" else value
        return found

    def place(self, path: Path) -> Path:
        """Return the place in the file for a path of the manifest."""
        start = self.tool.place
        if not path:
            return start
        key, *rest = path
        if key in ("parameters", "output_schema"):
            names = PARAMETERS if key == "parameters" else _OUTPUT
            key = next((each for each in names if each in self.raw), key)
        elif key == "annotations" and rest:
            rest = [HINTS.get(str(rest[0]), rest[0]), *rest[1:]]
        return (*start, key, *rest)


def listed(document: JSON) -> tuple[list[Listed], list[Flaw]]:
    """Return the tools in a document, and the entries that aren't tools."""
    tools, flaws = [], []
    for each in definitions_in(document):
        if isinstance(each, ForeignTool):
            raw = value_at(document, each.place)
            try:
                json_text(raw)
            except ValueError as error:
                flaws.append(Flaw(each.place, str(error)))
            else:
                tools.append(Listed(each, raw))
        elif isinstance(each, ProviderTool):
            flaws.append(Flaw(each.place, "there's no 'inputSchema'"))
        else:
            flaws.append(each)
    return tools, flaws


def findings(snapshot: Snapshot, targets: Iterable[str] = ()) -> list[Diagnostic]:
    """Return the findings about the definitions in a file; for ``targets``, the losses as well."""
    tools, flaws = listed(snapshot.document)
    places = _Located(snapshot)
    found = [
        places.at(
            Verdict(manifest.invalid_schema, Finding(ManifestPlace(each.place), each.message)),
            None,
            each.place,
        )
        for each in flaws
    ]
    for each in tools:
        for verdict in tool_verdicts(each):
            place = verdict.finding.place
            path = place.path if isinstance(place, ManifestPlace) else ()
            found.append(places.at(verdict, each.tool.name, each.place(path)))
    found += _between([(places, each) for each in tools])
    for kind, index, name, item in _others(snapshot.document):
        for verdict in description.text_verdicts(item):
            place = verdict.finding.place
            path = place.path if isinstance(place, ManifestPlace) else ()
            found.append(places.at(verdict, name, (kind, index, *path)))
    for target in targets:
        found += _losses(tools, target, places)
    return found


def _others(document: JSON) -> Iterator[tuple[str, int, str, dict[str, JSON]]]:
    """Yield prompts and resources: the kind, the index, a name with the kind, the definition."""
    for kind, key in LISTS.items():
        items = document.get(kind) if isinstance(document, dict) and kind != "tools" else None
        for index, item in enumerate(items if isinstance(items, list) else ()):
            if isinstance(item, dict) and isinstance(item.get(key), str):
                yield kind, index, f"{_NOUNS[kind]} {item[key]}", item


_NOUNS = {"prompts": "prompt", "resources": "resource", "resourceTemplates": "template"}


class _Located:
    """Gives verdicts their lines in a file."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._path = snapshot.path
        self._text = snapshot.text
        self._places = Places(snapshot.text)

    def at(self, verdict: Verdict, tool: str | None, path: Path | None) -> Diagnostic:
        """Return the diagnostic at a place of the file; None for the whole file."""
        line, column = 1, 1
        if path is not None:
            place = verdict.finding.place
            of = place.of if isinstance(place, ManifestPlace) else "value"
            offset = self._places.offset(ManifestPlace(path, of))
            line, column = line_and_column(self._text, offset)
        found = verdict.at(self._path, line, column, tool=tool)
        if tool is None or repr(tool) in found.message:
            return found
        return found._replace(message=f"{tool}: {found.message}")


def tool_verdicts(listed: Listed) -> list[Verdict]:
    """Return the findings about one definition, by the rules for manifests."""
    document = listed.document
    folder = ToolFolder(listed.tool.name, "", "")
    problems = [
        each
        for each in published("tool").problems(document)
        if each.path and each.path[0] in ("parameters", "output_schema")
    ]
    case = ManifestCase(folder, document, problems)
    found = ask((manifest.invalid_schema,), case)
    if not listed.tool.description.strip():
        words = Finding(ManifestPlace(()), "there's no description", "say what it does")
        found.append(Verdict(manifest.missing_key, words))
    found += description.verdicts(document)
    if not has_errors(found) or not problems:
        errors = schema.errors_of(document).verdicts
        found += errors + schema.warnings_of(document)
    return found


def together(snapshots: Iterable[Snapshot]) -> list[Diagnostic]:
    """Return the findings between files that each define one tool."""
    found: list[tuple[_Located, Listed]] = []
    for each in snapshots:
        tools, _ = listed(each.document)
        found += [(_Located(each), tool) for tool in tools if tool.tool.place == ()]
    return [*_between(found)]


def _between(tools: Iterable[tuple[_Located, Listed]]) -> Iterator[Diagnostic]:
    """Yield the findings about names of tools that belong together."""
    seen: dict[str, str] = {}
    names: set[str] = set()
    for located, each in tools:
        name, path = each.tool.name, (*each.tool.place, "name")
        same = name if name in names else seen.get(server.skeleton(name))
        names.add(name)
        seen.setdefault(server.skeleton(name), name)
        case = server.ListedTool(name, each.tool.place, same=same)
        for verdict in ask((server.confusable_name, server.repeated_tool), case):
            yield located.at(verdict, name, path)


def _losses(tools: Sequence[Listed], target: str, places: _Located) -> Iterator[Diagnostic]:
    """Yield the losses of the definitions in a provider's format."""
    made = {each.tool.name: each for each in tools}
    definitions = [each.tool.definition(name, _absent) for name, each in made.items()]
    for name, loss in exported(definitions, Target.of(target)).losses:
        for verdict in ask((BY_KIND[loss.kind],), FormatCase(target, loss)):
            place = made[name].place(loss.path) if name in made else ()
            yield places.at(verdict, name or None, place)


def _absent(**_: object) -> None:
    raise NotImplementedError("a definition can't be called")


def changes(old: JSON, new: Snapshot) -> tuple[list[ToolChange], list[Diagnostic]]:
    """Return the differences of a server from the document of its snapshot."""
    versions_before, _ = _versions(old)
    versions_now, places = _versions(new.document)
    located = _Located(new)
    found: list[Diagnostic] = []
    for name, version in versions_now.items():
        before = versions_before.get(name)
        # other arguments were accepted before and may not be now
        if before is not None and before.is_open and not _is_open(version):
            continue
        versions_now[name] = replace(version, is_open=before is not None and before.is_open)
    every = [_in_words(each) for each in compare(versions_before, versions_now)]
    for change in every:
        for each in change.changes:
            rule = server.breaking_change if each.kind == "breaking" else server.other_change
            words = f"{each.message} ({each.kind})" if each.kind == "wording" else each.message
            case = server.Difference(change.name, words, places.get(change.name))
            found += [
                located.at(verdict, None, case.place)._replace(tool=change.name)
                for verdict in ask((rule,), case)
            ]
    return every, found


def _versions(document: JSON) -> tuple[dict[str, ToolVersion], dict[str, Path]]:
    """Return a document's items as versions to compare, and their places."""
    versions: dict[str, ToolVersion] = {}
    places: dict[str, Path] = {}
    for each in listed(document)[0]:
        merged = {**_rest(each.raw), **each.document}
        merged["annotations"] = {**_ABSENT_HINTS, **each.tool.annotations}
        version = ToolVersion(merged)
        versions[each.tool.name] = replace(version, is_open=_is_open(version))
        places[each.tool.name] = each.tool.place
    for kind, index, name, item in _others(document):
        versions[name] = ToolVersion(_as_manifest(item))
        places[name] = (kind, index)
    return versions, places


def _in_words(change: ToolChange) -> ToolChange:
    """Return a change for a new or missing prompt or resource: it isn't a tool."""
    words = {"added": "new", "removed": "gone"}.get(change.status)
    if words is None:
        return change
    first = change.name.partition(" ")[0]
    noun = first if first in _NOUNS.values() and " " in change.name else "tool"
    (only,) = change.changes
    return change._replace(changes=(only._replace(message=f"the {noun} is {words}"),))


def _is_open(version: ToolVersion) -> bool:
    """Return whether a schema says that it takes more arguments than it lists."""
    taken: JSON = version.document["parameters"].get("additionalProperties", False)
    return taken is not False


_ABSENT_HINTS = {"read_only": False, "destructive": True, "idempotent": False, "open_world": True}
"""The protocol's meaning of an annotation that a server doesn't send."""


def rewritten(old: JSON, new: Snapshot) -> list[Diagnostic]:
    """Return the definitions that are written in another way, whatever that changes."""
    before, located = _raw(old), _Located(new)
    found = []
    for name, (raw, path) in _raw(new.document).items():
        if name in before and canonical(before[name][0]) != canonical(raw):
            case = server.Difference(name, "it is written in another way", path)
            (verdict,) = ask((server.other_change,), case)
            found.append(located.at(verdict, None, path)._replace(tool=name))
    return found


def _raw(document: JSON) -> dict[str, tuple[JSON, Path]]:
    """Return the definitions in a document by name, each with its place."""
    tools = {each.tool.name: (each.raw, each.tool.place) for each in listed(document)[0]}
    return {**tools, **{name: (item, (kind, at)) for kind, at, name, item in _others(document)}}


_READ = frozenset({"inputSchema", "outputSchema", "annotations", "name", "arguments", *PARAMETERS})


def _rest(item: Mapping[str, JSON]) -> dict[str, JSON]:
    return {key: each for key, each in item.items() if key not in _READ}


def _as_manifest(item: Mapping[str, JSON]) -> dict[str, JSON]:
    """Return a prompt or a resource as a manifest, so that one comparison serves all."""
    arguments = item.get("arguments")
    named = {
        str(each["name"]): each
        for each in (arguments if isinstance(arguments, list) else ())
        if isinstance(each, dict) and "name" in each
    }
    parameters = {
        "type": "object",
        "properties": {
            name: {"type": "string", "description": each.get("description", "")}
            for name, each in named.items()
        },
        "required": [name for name, each in named.items() if each.get("required") is True],
    }
    return {**_rest(item), "parameters": parameters}
