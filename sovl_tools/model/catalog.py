"""Candidates, and the catalog that is a pure function of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, Protocol, Self, TypeAlias

from sovl_tools.model.definition import StepHandler, ToolDefinition
from sovl_tools.model.diagnostic import Diagnostic
from sovl_tools.model.document import JSON
from sovl_tools.model.errors import ToolLoadError

Status: TypeAlias = Literal["loaded", "disabled", "unavailable", "rejected", "waiting"]


class Lint(Protocol):
    """The part of a load that finds a tool's warnings when they are read."""

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """The load's findings, and all warnings."""
        ...


class Candidate(NamedTuple):
    """What one source of a tool gave.

    Attributes:
        name: the tool's name, which is the folder's.
        path: its source, as the caller named it.
        location: the absolute path of its folder.
        status: ``"loaded"`` if it can enter the catalog.
        definition: the tool; None unless the status is ``"loaded"``.
        phrases: its activation phrases.
        has_own_phrases: whether they are in the module and not in the manifest.
        actions: the kinds of steps that it brings.
        found: its diagnostics, unless there is a ``lint``.
        reasons: in words, why it can't be called; empty if it can.
        line: its line in a Python file, from 1; 0 for a folder.
        column: its column in that line, from 1; 0 for a folder.
        previous: the last good version, which serves for as long as this one can't.
        description: the description in its manifest, if that could be read.
        lint: finds its diagnostics.
        aliases: former names of the tool.
        replaced_by: the tool to use instead; None for a rejected one.
    """

    name: str
    path: str
    location: str
    status: Status
    definition: ToolDefinition | None = None
    phrases: tuple[str, ...] = ()
    has_own_phrases: bool = False
    actions: tuple[str, ...] = ()
    found: tuple[Diagnostic, ...] = ()
    reasons: tuple[str, ...] = ()
    line: int = 0
    column: int = 0
    previous: Candidate | None = None
    description: str = ""
    lint: Lint | None = None
    aliases: tuple[str, ...] = ()
    replaced_by: str | None = None

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Errors and warnings; the warnings are found when this is first read."""
        return self.found if self.lint is None else self.lint.diagnostics

    def to_json(self) -> dict[str, JSON]:
        """Return its fields as JSON, without the definition and the last good version."""
        members = self._replace(definition=None, previous=None)._asdict()
        del members["found"], members["lint"]
        return members | {"diagnostics": [each._asdict() for each in self.diagnostics]}

    @classmethod
    def from_json(cls, document: dict[str, JSON]) -> Self:
        """Return the candidate that ``to_json`` was called on, without these fields."""
        members = dict(document)
        found = tuple(Diagnostic(**each) for each in members.pop("diagnostics"))
        lists = {key: tuple(document[key]) for key in ("phrases", "actions", "reasons", "aliases")}
        return cls(**{**members, **lists, "found": found})


@dataclass(frozen=True, slots=True)
class Catalog:
    """All tools at one moment. Readers take it whole; a change makes another.

    Attributes:
        tools: by name, in a stable order.
        unavailable: why a tool of that name can't be called, in words.
        step_handlers: by action.
        candidates: all candidates, with their statuses in this catalog.
        diagnostics: problems between tools.
        aliases: the tool's name for each alias, also of a tool that can't be called.
    """

    tools: Mapping[str, ToolDefinition] = field(default_factory=dict)
    unavailable: Mapping[str, Sequence[str]] = field(default_factory=dict)
    step_handlers: Mapping[str, StepHandler] = field(default_factory=dict)
    candidates: tuple[Candidate, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    aliases: Mapping[str, str] = field(default_factory=dict)

    def named(self, name: str) -> str:
        """Return the tool's name for an alias of it, and any other name unchanged."""
        return self.aliases.get(name, name)

    def get(self, name: str) -> ToolDefinition | None:
        """Return the tool of that name or alias; None if it can't be called."""
        return self.tools.get(self.named(name))

    def replacements(self, tool: ToolDefinition) -> tuple[str, ...]:
        """Return the tools that ``replaced_by`` leads to, the nearest first; () for a circle."""
        passed = [tool]
        while (other := self.get(passed[-1].replaced_by or "")) is not None:
            if other in passed:
                return ()
            passed.append(other)
        return tuple(each.name for each in passed[1:])


@dataclass(frozen=True, slots=True)
class LoadReport:
    """The result of a load: the state of each folder and every diagnostic, in order of place.

    A folder whose last edit broke it is ``"rejected"``, also while the version before serves.
    """

    folders: tuple[Candidate, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        """The diagnostics that kept a tool from loading, or an alias from counting."""
        return tuple(each for each in self.diagnostics if each.severity == "error")

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        """The diagnostics of tools that loaded all the same."""
        return tuple(each for each in self.diagnostics if each.severity == "warning")

    def raise_if_errors(self) -> None:
        """Raise ToolLoadError with all errors if there are any."""
        if self.errors:
            raise ToolLoadError(self.errors)


class CatalogChange(NamedTuple):
    """The effect of a change in the files: one swap of the catalog.

    Attributes:
        added: names of tools that can be called from now on.
        updated: names of tools that have another version from now on, or are sound again.
        removed: names of tools that can no longer be called.
        rejected: names of folders whose new version can't be loaded; the last good one serves.
        diagnostics: findings in the folders that changed, and between tools.
        duration: seconds from the first sign of the change until the new catalog was there.
        waiting: names of folders whose files have not all arrived yet.
    """

    added: tuple[str, ...] = ()
    updated: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    rejected: tuple[str, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    duration: float = 0.0
    waiting: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        """Return True if anything changed."""
        # the duration doesn't count
        return any(self[:5]) or bool(self.waiting)
