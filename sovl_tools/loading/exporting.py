"""Exports: tools in a provider's format, the losses, and arguments back from it."""

from __future__ import annotations

import json
import logging
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple, cast

from sovl_tools.formats.base import Loss, Options, Shape, format_of
from sovl_tools.formats.providers import ANTHROPIC
from sovl_tools.loading.interface import Interface
from sovl_tools.loading.location import Locator, SourceLocation
from sovl_tools.loading.pipeline import CheckedFolder, bind
from sovl_tools.loading.rules.folder import Unreadable
from sovl_tools.loading.rules.formats import BY_KIND, FormatCase, refused_property_name
from sovl_tools.loading.sources import read_manifest
from sovl_tools.model.catalog import Candidate, Catalog
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.diagnostic import Diagnostic, ManifestPlace, ask, internal_verdict
from sovl_tools.model.document import JSON, dotted
from sovl_tools.model.errors import ResolutionError, SchemaError
from sovl_tools.model.folder import ToolFolder
from sovl_tools.schema.engine import compile_schema
from sovl_tools.schema.names import argument_names

_LOGGER = logging.getLogger("sovl_tools")


class Target(NamedTuple):
    """A format as users write it: ``gemini``, ``openai-strict``.

    Attributes:
        name: the format's name.
        options: of the format.
    """

    name: str
    options: Options = Options()

    @classmethod
    def of(cls, text: str) -> Target:
        """Return the target of a name that may end in ``-strict``.

        Raises:
            ValueError: the format is unknown, or has no strict form.
        """
        name = text.removesuffix("-strict")
        format_of(name, strict=name != text)
        return cls(name, Options(strict=name != text))

    def __str__(self) -> str:
        """Return the target as users write it."""
        return f"{self.name}-strict" if self.options.strict else self.name


class Export:
    """Tools in a format. Callers share ``definitions``: don't change them.

    Attributes:
        format: the name of the format.
        definitions: a list of dictionaries, as the provider's SDK takes them; for ``openapi`` one
            document, for ``prompt`` a string.
        shapes: by the names of the tools.
        is_lasting: whether it stays valid while the tools do: no function makes a schema.
    """

    def __init__(
        self,
        target: Target,
        shapes: Mapping[str, Shape],
        losses: Iterable[tuple[str, Loss]] = (),
        *,
        candidates: Sequence[Candidate] = (),
        is_lasting: bool = True,
    ) -> None:
        self.format = target.name
        self.is_lasting = is_lasting
        self._target = target
        form = format_of(target.name)
        found = list(shapes.values())
        self.shapes = shapes
        if form.apply_limits is not None:
            found = form.apply_limits(found, target.options)
            self.shapes = dict(zip(shapes, found, strict=True))
        self.definitions, self._collected = form.collect(found, target.options)
        self._losses = tuple(losses)
        self._candidates = candidates

    @property
    def losses(self) -> Iterator[tuple[str, Loss]]:
        """Each loss with the name of its tool, or with an empty name for all tools together."""
        yield from self._losses
        for name, shape in self.shapes.items():
            for loss in shape.losses:
                yield name, loss
        yield from (("", loss) for loss in self._collected)

    @cached_property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """The losses, and the schemas that the provider rejects, as ST9xx."""
        by_tool: dict[str, list[Loss]] = {}
        for name, loss in dict.fromkeys(self.losses):
            by_tool.setdefault(name, []).append(loss)
        candidates = self._candidates
        known = {each.name: each for each in reversed(candidates) if each.definition is not None}
        nowhere = SourceLocation((candidates and os.path.dirname(candidates[0].path)) or ".")
        return tuple(
            found
            for name, losses in by_tool.items()
            for found in _diagnosed(str(self._target), losses, known.get(name), nowhere)
        )

    @property
    def rejected(self) -> dict[str, str]:
        """The tools for which the provider would reject the whole request, with the reason."""
        return {
            name: f"{loss.message} by {self.format}; {loss.help}"
            for name, shape in self.shapes.items()
            for loss in shape.losses
            if loss.kind in {"name", "limit"}
        }

    def restore(self, name: str, arguments: JSON) -> JSON:
        """Return arguments as the manifest wants them, as ``model.protocols.Export`` says."""
        shape = self.shapes.get(name)
        if shape is None or shape.undo is None:
            return arguments
        given = arguments
        if isinstance(arguments, str | bytes):
            try:
                given = json.loads(arguments)
            except (ValueError, RecursionError):
                return arguments
        if not isinstance(given, dict):
            return arguments
        return shape.undo(given, lambda schema: compile_schema(schema).is_valid)

    def __repr__(self) -> str:
        return f"<Export of {len(self.shapes)} tools as {self._target}>"


def exported(
    tools: Iterable[ToolDefinition], target: Target, candidates: Sequence[Candidate] = ()
) -> Export:
    """Return tools in a format; diagnostics have the places of the candidates.

    Leaves out a tool whose schema can't be made at the moment; a diagnostic reports it.
    """
    form = format_of(target.name, strict=target.options.strict)
    # where a provider limits all tools together, which are strict is decided when all are there
    is_alone = form.apply_limits is not None
    options = target.options._replace(strict=False) if is_alone else target.options
    is_lasting = True
    shapes: dict[str, Shape] = {}
    losses: list[tuple[str, Loss]] = []
    for tool in tools:
        # functions, and methods of an object, can say something else at the next export
        is_lasting = is_lasting and not tool.is_dynamic and tool.instance is None
        try:
            resolved = tool
            if tool.is_dynamic:
                resolved = tool.resolve()
                compile_schema(resolved.parameters)  # what functions make is checked
            shapes[tool.name] = form.convert(resolved, options)
        except (ResolutionError, SchemaError, RecursionError) as error:
            _LOGGER.warning("tool %s is left out: %s", tool.name, error)
            losses.append((tool.name, Loss("left_out", (), f"left out: {error}")))
        except Exception as error:  # noqa: BLE001 - the barrier: the other tools are exported
            found = internal_verdict(error).finding
            losses.append((tool.name, Loss("left_out", (), f"left out: {found.message}")))
    return Export(target, shapes, losses, candidates=candidates, is_lasting=is_lasting)


def _diagnosed(
    target: str, losses: Iterable[Loss], candidate: Candidate | None, nowhere: SourceLocation
) -> tuple[Diagnostic, ...]:
    """Return losses of one tool as diagnostics, at their places in its manifest or its code."""
    verdicts = [
        verdict
        for loss in losses
        for verdict in ask((BY_KIND[loss.kind],), FormatCase(target, loss))
    ]
    if candidate is not None and not candidate.line:
        folder = ToolFolder(candidate.name, candidate.path, candidate.location)
        return Locator(folder).diagnostics(verdicts)
    name, where = None, nowhere
    if candidate is not None:
        name = candidate.name
        where = SourceLocation(candidate.path, candidate.line, candidate.column)
    found = []
    for verdict in verdicts:
        diagnostic, place = verdict.at(*where, tool=name), verdict.finding.place
        if isinstance(place, ManifestPlace) and place.path:  # it has no manifest with such a place
            message = f"{diagnostic.message}, at {dotted(place.path)!r}"
            diagnostic = diagnostic._replace(message=message)
        found.append(diagnostic)
    return tuple(found)


def checked(candidates: Iterable[Candidate], targets: Iterable[str]) -> tuple[Diagnostic, ...]:
    """Return the losses of tool folders in formats; only the manifests are read.

    Raises:
        ValueError: a target is unknown.
    """
    known = []
    for each in candidates:
        folder = ToolFolder(each.name, each.path, each.location)
        definition = None
        if each.status == "loaded":
            reading = read_manifest(folder)
            # it can have changed since it was loaded
            if not isinstance(reading, Unreadable) and reading.manifest is not None:
                interface = Interface(function=_absent)
                definition = bind(reading.manifest, interface, source=folder.path)
        known.append(each._replace(definition=definition))
    tools = [each.definition for each in known if each.definition is not None]
    exports = [exported(tools, Target.of(each), known) for each in targets]
    return tuple(found for export in exports for found in export.diagnostics)


_NAMES = cast("re.Pattern[str]", ANTHROPIC.names).fullmatch


def unserved(candidates: Iterable[Candidate]) -> tuple[Diagnostic, ...]:
    """Return why ``serve`` leaves out tool folders."""
    odd = [
        each
        for each in candidates
        if each.status == "loaded" and not all(map(_NAMES, _arguments(each)))
    ]
    found = checked(odd, ("mcp",)) if odd else ()
    return tuple(each for each in found if each.code == refused_property_name.code)


def _arguments(candidate: Candidate) -> Iterable[str]:
    """Return the names of a tool's arguments; none if its manifest can't be read any more."""
    lint = candidate.lint
    manifest = lint.manifest if isinstance(lint, CheckedFolder) else None
    if manifest is None:
        folder = ToolFolder(candidate.name, candidate.path, candidate.location)
        reading = read_manifest(folder)
        manifest = None if isinstance(reading, Unreadable) else reading.manifest
    return () if manifest is None else argument_names(manifest.parameters).places


def _absent() -> None:
    raise NotImplementedError("the module was not imported")


class Exporter:
    """Makes exports of catalogs, and keeps the last exports of whole catalogs."""

    def __init__(self) -> None:
        self._made: dict[tuple[str, ...], tuple[Catalog, Export]] = {}

    def export(
        self, catalog: Catalog, name: str, tools: Sequence[ToolDefinition] | None, **options: Any
    ) -> Export:
        """Return tools of a catalog in a format, with what Options says; None are all of them.

        Raises:
            ValueError: the format is unknown, or has no strict form and that is asked for.
        """
        target = Target(name, Options(**options))
        if tools is not None:
            return exported(tools, target, catalog.candidates)
        # options can contain lists, which can't be part of a key
        key = name, *map(repr, target.options)
        made_of, export = self._made.get(key, (None, None))
        if export is None or made_of is not catalog or not export.is_lasting:
            export = exported(catalog.tools.values(), target, catalog.candidates)
            if len(self._made) >= _MOST_KEPT:
                self._made.clear()
            self._made[key] = catalog, export
        return export


_MOST_KEPT = 16
