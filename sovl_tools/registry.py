"""The registry: the one object that changes. It holds a catalog and answers from it."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Collection, Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any, Self

from sovl_tools.loading.collecting import collect, report_of
from sovl_tools.loading.combining import combine
from sovl_tools.loading.pipeline import Settings
from sovl_tools.loading.supervision import load_folders
from sovl_tools.model.catalog import Catalog, LoadReport
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.document import JSON
from sovl_tools.model.errors import ToolNotFoundError
from sovl_tools.model.interface import StepHandler
from sovl_tools.model.suggestion import nearest
from sovl_tools.reporting.plain import plain
from sovl_tools.search.phrases import PhraseIndex, PhraseMatch

_LOGGER = logging.getLogger("sovl_tools")
_ABSENT = object()


class ToolRegistry:
    """Tools by name. Reading needs no lock: each answer comes from one whole catalog.

    Attributes:
        catalog: the tools as they are now; replaced as a whole when something changes.
        report: what the last load found.
    """

    def __init__(self) -> None:
        self.catalog = Catalog()
        self.report = LoadReport()
        self._phrases: tuple[Catalog, PhraseIndex] | None = None

    @classmethod
    def from_directory(
        cls,
        *paths: str | os.PathLike[str],
        names: Collection[str] | None = None,
        import_timeout: float = 10.0,
    ) -> Self:
        """Return a registry of the tool folders in the directories.

        A broken folder never stops the others and a missing path stops nothing: ``report`` says
        what is wrong with them. Importing the modules runs their code, on a thread of its own.

        Args:
            paths: tools directories, the first wins where two have a tool of one name. A tool
                folder and a file in one are accepted as well.
            names: load only the tools of these names.
            import_timeout: how long importing one module may take, in seconds.
        """
        registry = cls()
        collected = collect(paths, names=names)
        settings = Settings(limit=import_timeout)
        registry.catalog = combine(load_folders(collected.folders, settings))
        registry.report = report_of(registry.catalog, collected.diagnostics)
        _log(registry.report)
        return registry

    def __getitem__(self, name: str) -> ToolDefinition:
        """Return the tool.

        Raises:
            ToolNotFoundError: there is none, or it did not load; the message says why.
        """
        catalog = self.catalog
        tool = catalog.tools.get(name)
        if tool is None:
            reasons = catalog.unavailable.get(name)
            raise ToolNotFoundError(
                name,
                suggestion=nearest(name, catalog.tools),
                reason="; ".join(reasons) if reasons else None,
            )
        return tool

    def get(self, name: str) -> ToolDefinition | None:
        """Return the tool, or None if there is none of that name."""
        return self.catalog.tools.get(name)

    def __contains__(self, name: object) -> bool:
        return name in self.catalog.tools

    def __len__(self) -> int:
        return len(self.catalog.tools)

    def __iter__(self) -> Iterator[ToolDefinition]:
        return iter(self.catalog.tools.values())

    def __repr__(self) -> str:
        count = len(self)
        return f"<ToolRegistry with {count} tool{'s' * (count != 1)}>"

    def list_tools(self) -> list[ToolDefinition]:
        """Return all tools, ordered by name."""
        return list(self.catalog.tools.values())

    def schemas(self) -> list[dict[str, JSON]]:
        """Return the neutral definition ``{name, description, parameters}`` of every tool."""
        return [tool.to_schema() for tool in self]

    def filter(
        self, *, name_pattern: str | re.Pattern[str] | None = None, **criteria: Any
    ) -> list[ToolDefinition]:
        """Return the tools that meet all criteria.

        A list is met by an attribute that has all its members, any other value by one that
        equals it. A name that is no attribute is looked up in ``metadata``; a tool without it
        does not match.

        Args:
            name_pattern: a shell pattern such as ``"aws_s3_*"``, or a compiled expression that
                is searched for in the name.
            criteria: attribute names or ``metadata`` keys and what they have to be.
        """
        return [
            tool
            for tool in self
            if (name_pattern is None or _is_named(tool.name, name_pattern))
            and all(_meets(tool, key, wanted) for key, wanted in criteria.items())
        ]

    def match(self, text: str) -> list[PhraseMatch]:
        """Return the activation phrases that stand in the text, the longest first.

        Words are compared whole, without case and punctuation.
        """
        catalog, cached = self.catalog, self._phrases
        if cached is None or cached[0] is not catalog:
            cached = self._phrases = catalog, PhraseIndex(catalog.tools.values())
        return cached[1].match(text)

    @property
    def step_handlers(self) -> Mapping[str, StepHandler]:
        """The step handlers that tools bring for procedures, by action."""
        return self.catalog.step_handlers


def _is_named(name: str, pattern: str | re.Pattern[str]) -> bool:
    if isinstance(pattern, str):
        return fnmatchcase(name, pattern)
    return pattern.search(name) is not None


def _meets(tool: ToolDefinition, key: str, wanted: Any) -> bool:
    actual = getattr(tool, key, _ABSENT)
    if actual is _ABSENT:
        actual = tool.metadata.get(key, _ABSENT)
    if isinstance(wanted, list | tuple | set) and isinstance(actual, list | tuple | set):
        return all(each in actual for each in wanted)
    return bool(actual == wanted)


def _log(report: LoadReport) -> None:
    for folder in report.folders:
        if folder.status == "rejected":
            reasons = plain("; ".join(folder.reasons))
            _LOGGER.warning("tool %s was rejected: %s", plain(folder.path), reasons)
        elif folder.status == "loaded":
            _LOGGER.info("tool %s was loaded from %s", folder.name, folder.path)
