"""``sovl-tools validate``."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from contextlib import chdir
from dataclasses import replace
from time import perf_counter
from types import TracebackType
from typing import Self

import click

from sovl_tools.cli.command import (
    FINDINGS,
    Command,
    format_option,
    import_timeout_option,
    is_quiet,
    tools_option,
)
from sovl_tools.cli.output import colored, write
from sovl_tools.cli.places import places_of, without_procedures
from sovl_tools.configuration import Configuration
from sovl_tools.loading.catalog_builder import combine
from sovl_tools.loading.discovery import collect, report_of
from sovl_tools.loading.isolation import load_in_child
from sovl_tools.loading.pipeline import Settings, load_folder
from sovl_tools.loading.rules.folder import no_tools
from sovl_tools.model.catalog import Candidate, Catalog
from sovl_tools.model.diagnostic import Diagnostic, Rule
from sovl_tools.model.folder import ToolFolder
from sovl_tools.model.suggestion import did_you_mean
from sovl_tools.reporting.outcome import FORMATS, Outcome, render, selected, strict
from sovl_tools.reporting.plain import plain

_PROGRESS_DELAY = 1.0
_PROGRESS_WIDTH = 30

EXAMPLES = """\b
Examples:
  sovl-tools validate                          whatever is configured
  sovl-tools validate tools/example_tool       one tool
  sovl-tools validate docs/examples/procedures procedures, and the tools
  sovl-tools validate --no-import              without running a line of any tool
  sovl-tools validate --format github          in a workflow
  sovl-tools validate --ignore ST306,ST305     without these warnings
  sovl-tools validate --target openai-strict,gemini"""
EXITS = {
    1: "There are errors.",
    2: "A path is not there, or an option is wrong.",
}


def _codes(_: click.Context, __: click.Parameter, values: Sequence[str]) -> tuple[str, ...]:
    """Split and check codes, which may be prefixes: ``ST4`` is all of ST4xx."""
    from sovl_tools.rules import RULES  # noqa: PLC0415 - only when codes are given

    codes = [code.strip().upper() for value in values for code in value.split(",") if code.strip()]
    for code in codes:
        if not any(known.startswith(code) for known in RULES):
            hint = did_you_mean(code, RULES) or "sovl-tools explain lists the codes"
            raise click.BadParameter(f"there is no code {code!r}; {hint}")
    return tuple(codes)


@click.command(cls=Command, epilog=EXAMPLES, exits=EXITS)
@click.argument("paths", nargs=-1, metavar="[PATH]...", type=click.Path())
@tools_option
@click.option(
    "--no-import",
    is_flag=True,
    help="Parse the modules; no line of any tool runs.",
)
@format_option(*FORMATS)
@click.option("--select", multiple=True, callback=_codes, metavar="CODES", help="Only these codes.")
@click.option("--ignore", multiple=True, callback=_codes, metavar="CODES", help="Not these codes.")
@click.option(
    "--target",
    multiple=True,
    metavar="TARGETS",
    help="Tell what these formats lose: openai-strict,gemini.",
)
@click.option("--warnings-as-errors", is_flag=True, help="Let warnings fail as errors do.")
@import_timeout_option
@click.pass_context
def validate(
    ctx: click.Context,
    *,
    paths: tuple[str, ...],
    tools: tuple[str, ...],
    no_import: bool,
    format_: str,
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    target: tuple[str, ...],
    warnings_as_errors: bool,
    import_timeout: float | None,
) -> None:
    """Check tool folders against the convention and against their own code, and procedures.

    PATH is a directory, for the tools and the procedures in it; one tool folder or a file in one; a
    file of a procedure; or a configured directory of plugins. Without any, the configured
    directories of tools, plugins and procedures are checked. Modules are imported in a child
    process, one after another, so that none can hang or end this one.

    CODES and TARGETS are separated by commas, and the options may be repeated. The beginning of a
    code stands for all that begin so: ST305,ST4. What is not shown does not fail either.
    `sovl-tools explain CODE` says more.
    """
    started = perf_counter()
    wanted = _checked_targets(target) if target else ()
    places = places_of(paths, tools)
    found = places.configuration
    collected = without_procedures(collect(places.folders), places.procedures)
    limit = import_timeout or found.import_timeout
    limits = Settings(imports=not no_import, limit=limit, compiles=True)
    with _Progress(len(collected.folders)) as progress:
        candidates = _load(collected.folders, limits, progress)
    plugged, unusable = _plugged(places.plugins, limits) if places.plugins else ((), ())
    catalog = combine((*candidates, *plugged))
    lost = _lost(catalog.candidates, wanted) if wanted else ()
    wrong = _procedures(places.procedures, found, catalog if limits.imports else None)
    others = (*map(_strict_about_absence, (*places.astray, *collected.diagnostics)), *unusable)
    report = report_of(catalog, (*others, *lost, *wrong))
    report = selected(report, select=select, ignore=ignore)
    report = strict(report) if warnings_as_errors else report
    duration = perf_counter() - started
    outcome = Outcome(report, duration, color=colored(), procedures=len(places.procedures))
    if format_ == "sarif":
        outcome = replace(outcome, rules=_rules())
    write(render(outcome, format_))
    ctx.exit(FINDINGS if report.errors else 0)


def _rules() -> Mapping[str, Rule]:
    from sovl_tools.rules import RULES  # noqa: PLC0415 - only where they are explained

    return RULES


def _strict_about_absence(diagnostic: Diagnostic) -> Diagnostic:
    is_empty = diagnostic.code == no_tools.code
    return diagnostic._replace(severity="error") if is_empty else diagnostic


def _plugged(
    paths: Sequence[str], limits: Settings
) -> tuple[Sequence[Candidate], Sequence[Diagnostic]]:
    """Return the tools in directories of modules, and what is wrong with the directories."""
    from sovl_tools.cli.plugins import checked, missing  # noqa: PLC0415 - only for plugins

    return checked(paths, limits.limit) if limits.imports else missing(paths)


def _checked_targets(target: Sequence[str]) -> tuple[str, ...]:
    from sovl_tools.cli.targets import checked_targets  # noqa: PLC0415 - only for targets

    return checked_targets(target)


def _lost(candidates: Sequence[Candidate], targets: Sequence[str]) -> tuple[Diagnostic, ...]:
    from sovl_tools.loading.exporting import checked  # noqa: PLC0415 - only for targets

    return checked(candidates, targets)


def _procedures(
    files: Sequence[str], found: Configuration, validated: Catalog | None
) -> Sequence[Diagnostic]:
    """Return what is wrong in files of procedures."""
    if not files:
        return ()
    from sovl_tools.cli.procedures import known_tools, wrong_in  # noqa: PLC0415 - likewise

    with chdir("."):  # a tool that changes the directory as it is imported does so here again
        catalog = None if validated is None else known_tools(found, validated)
    return wrong_in(files, catalog)


def _load(folders: Sequence[ToolFolder], limits: Settings, progress: _Progress) -> list[Candidate]:
    if limits.imports:
        return load_in_child(folders, limits, observe=progress.advance, echo=_echo)
    candidates = []
    for folder in folders:
        candidates.append(load_folder(folder, limits))
        progress.advance(candidates[-1])
    return candidates


def _echo(printed: bytes) -> None:
    """Show what a tool prints while it is imported, on the error output."""
    sys.stderr.write(printed.decode(errors="backslashreplace"))
    sys.stderr.flush()


class _Progress:
    """Counts folders; appears on the error output after a second and vanishes at the end."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._done = 0
        self._shown = False
        self._started = perf_counter()
        self._active = sys.stderr.isatty() and not is_quiet()

    def advance(self, event: Candidate | ToolFolder) -> None:
        """Count a folder that is done."""
        if isinstance(event, Candidate):
            self._done += 1
        if self._active and perf_counter() - self._started > _PROGRESS_DELAY:
            self._shown = True
            filled = _PROGRESS_WIDTH * self._done // max(self._total, 1)
            bar = "█" * filled + "·" * (_PROGRESS_WIDTH - filled)
            sys.stderr.write(f"\r\x1b[2K{bar} {self._done}/{self._total} {plain(event.name):.40}")
            sys.stderr.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._shown:
            sys.stderr.write("\r\x1b[2K")
            sys.stderr.flush()
