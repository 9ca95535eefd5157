"""Findings about definitions of tools in a file, and differences between two such files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
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
from sovl_tools.model.document import JSON, Path
from sovl_tools.model.folder import ToolFolder
from sovl_tools.remote.session import LISTS
from sovl_tools.remote.snapshot import Snapshot
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
            raw: JSON = document
            for part in each.place:
                raw = raw[part]
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
    for name, verdict in _between(tools):
        place = verdict.finding.place
        path = place.path if isinstance(place, ManifestPlace) else ()
        found.append(places.at(verdict, name, path))
    for target in targets:
        found += _losses(tools, target, places)
    return found


class _Located:
    """Gives verdicts their lines in a file."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._path, self._text = snapshot.path, snapshot.text
        self._places = Places(snapshot.text)

    def at(self, verdict: Verdict, tool: str | None, path: Path | None) -> Diagnostic:
        """Return the diagnostic at a place of the file; None for the whole file."""
        line, column = 1, 1
        if path is not None:
            place = verdict.finding.place
            of = place.of if isinstance(place, ManifestPlace) else "value"
            line, column = line_and_column(self._text, self._places.offset(ManifestPlace(path, of)))
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


def _between(tools: Sequence[Listed]) -> Iterator[tuple[str, Verdict]]:
    """Yield the findings about names in a list of definitions."""
    seen: dict[str, str] = {}
    names: set[str] = set()
    for each in tools:
        name = each.tool.name
        key = server.skeleton(name)
        same = name if name in names else seen.get(key)
        names.add(name)
        seen.setdefault(key, name)
        case = server.ListedTool(name, each.tool.place, same=same)
        rules = (server.confusable_name, server.repeated_tool)
        yield from ((name, verdict) for verdict in ask(rules, case))


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
    every = compare(versions_before, versions_now)
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
    """Return what a document lists as versions to compare, and their places."""
    versions: dict[str, ToolVersion] = {}
    places: dict[str, Path] = {}
    for each in listed(document)[0]:
        versions[each.tool.name] = ToolVersion({**_rest(each.raw), **each.document})
        places[each.tool.name] = each.tool.place
    for kind, key in LISTS.items():
        items = document.get(kind) if isinstance(document, dict) and kind != "tools" else None
        for index, item in enumerate(items if isinstance(items, list) else ()):
            if isinstance(item, dict) and isinstance(item.get(key), str):
                name = f"{kind.removesuffix('s')} {item[key]}"
                versions[name] = ToolVersion(_as_manifest(item))
                places[name] = (kind, index)
    return versions, places


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
