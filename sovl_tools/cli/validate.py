"""``sovl-tools validate``."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from time import perf_counter
from types import TracebackType
from typing import Any, NamedTuple, Self, TypeVar

import click

from sovl_tools.cli.command import (
    FINDINGS,
    Command,
    Misuse,
    configured_targets,
    format_option,
    import_timeout_option,
    is_quiet,
    settings,
    targets_option,
    tools_option,
)
from sovl_tools.cli.output import colored, write
from sovl_tools.configuration import Configuration, configuration
from sovl_tools.linting.rules import RULES
from sovl_tools.linting.selection import SelectorError, codes_of, selection_of, strict
from sovl_tools.linting.suppressions import suppress_findings
from sovl_tools.loading.catalog_builder import combine
from sovl_tools.loading.discovery import Collected, collect, discover, report_of, tool_folder
from sovl_tools.loading.isolation import load_in_child
from sovl_tools.loading.pipeline import Settings, load_folder
from sovl_tools.loading.rules.folder import missing_directory, no_tools
from sovl_tools.model.catalog import Candidate, Catalog
from sovl_tools.model.diagnostic import Diagnostic
from sovl_tools.model.folder import ToolFolder
from sovl_tools.procedures.parse.files import DIRECTORY, find_procedures, is_procedure
from sovl_tools.procedures.parse.files import files as files_in
from sovl_tools.reporting.outcome import FORMATS, Outcome, render
from sovl_tools.reporting.plain import plain

_F = TypeVar("_F", bound=Callable[..., Any])

_PROGRESS_DELAY = 1.0
_PROGRESS_WIDTH = 30

EXAMPLES = """\b
Examples:
  sovl-tools validate                          whatever is configured
  sovl-tools validate tools/example_tool       one tool
  sovl-tools validate docs/examples/procedures procedures, and the tools
  sovl-tools validate --no-import              without running a line of any tool
  sovl-tools validate --format github          in a workflow
  sovl-tools validate --ignore ST306,ST305     without these findings
  sovl-tools validate --target openai-strict,gemini"""
EXITS = {
    1: "There are errors.",
    2: "A path is not there, or an option is wrong.",
}


def _rules(_: click.Context, __: click.Parameter, values: Sequence[str]) -> tuple[str, ...]:
    """Return the codes of rules, and their beginnings, that ``ST4,missing-description`` names."""
    try:
        return codes_of(each for value in values for each in value.split(",") if each.strip())
    except SelectorError as error:
        raise click.BadParameter(str(error)) from error


def _selected_rules(option: str, words: str) -> Callable[[_F], _F]:
    return click.option(option, multiple=True, callback=_rules, metavar="RULES", help=words)


@click.command(cls=Command, epilog=EXAMPLES, exits=EXITS)
@click.argument("paths", nargs=-1, metavar="[PATH]...", type=click.Path())
@tools_option
@click.option(
    "--no-import",
    is_flag=True,
    help="Parse the modules; no line of any tool runs.",
)
@format_option(*FORMATS)
@_selected_rules("--select", "Only these rules.")
@_selected_rules("--extend-select", "These rules as well.")
@_selected_rules("--ignore", "Not these rules.")
@targets_option("Tell what these formats lose: openai-strict,gemini.")
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
    extend_select: tuple[str, ...],
    ignore: tuple[str, ...],
    targets: tuple[str, ...],
    warnings_as_errors: bool,
    import_timeout: float | None,
) -> None:
    """Check tool folders against the convention and against their own code, and procedures.

    PATH is a directory, for the tools and the procedures in it; one tool folder or a file in one; a
    file of a procedure; or a configured directory of plugins. Without any, the configured
    directories of tools, plugins and procedures are checked. Modules are imported in a child
    process, one after another, so that none can hang or end this one.

    RULES are codes, beginnings of codes, and names: ST305,ST4,missing-description. The longest that
    fits a finding decides, and what is not shown does not fail either. RULES and TARGETS are
    separated by commas, and the options may be repeated; each wins over the key of its name in
    pyproject.toml. `sovl-tools explain RULE` says more.
    """
    started = perf_counter()
    places = places_of(paths, tools)
    found = places.configuration
    targets = targets or configured_targets(found)
    selection = selection_of(found, select, extend_select, ignore)
    collected = without_procedures(collect(places.folders), places.procedures)
    limit = import_timeout or found.import_timeout
    limits = Settings(imports=not no_import, limit=limit, compiles=True)
    with _Progress(len(collected.folders)) as progress:
        candidates = _load(collected.folders, limits, progress)
    others = [*places.misplaced, *collected.diagnostics]
    # to find nothing is an error for whoever asks for a check
    others = [
        each._replace(severity="error") if each.code == no_tools.code else each for each in others
    ]
    plugged, unusable = _check_plugins(places.plugins, limits)
    others += unusable
    # folders come before plugins, as where they are served
    catalog = combine((*candidates, *plugged))
    if targets:
        from sovl_tools.loading.exporting import checked as losses  # noqa: PLC0415 - for targets

        others += losses(catalog.candidates, targets)
    others += _check_procedures(places, catalog, limits)
    report = report_of(catalog, others)
    unasked = [*["ST5", "ST6"] * no_import, *["ST9"] * (not targets)]
    report = suppress_findings(report, places.procedures, unasked=unasked)
    report = selection.of(report)
    if warnings_as_errors or found.warnings_as_errors:
        report = strict(report)
    duration = perf_counter() - started
    outcome = Outcome(report, duration, color=colored(), procedures=len(places.procedures))
    if format_ == "sarif":
        outcome = replace(outcome, rules=RULES)
    write(render(outcome, format_))
    ctx.exit(FINDINGS if report.errors else 0)


def _check_plugins(
    paths: Sequence[str], limits: Settings
) -> tuple[Sequence[Candidate], Sequence[Diagnostic]]:
    if not paths:
        return (), ()
    from sovl_tools.cli import child_checks  # noqa: PLC0415 - most have no plugins

    if not limits.imports:
        return child_checks.missing_plugins(paths)
    return child_checks.check_plugins(paths, limits.limit)


def _check_procedures(places: Places, catalog: Catalog, limits: Settings) -> Sequence[Diagnostic]:
    if not places.procedures:
        return ()
    from sovl_tools.cli import child_checks, procedures  # noqa: PLC0415 - most check none

    if not limits.imports:
        return procedures.check_procedures(places.procedures, None)
    found = replace(places.configuration, import_timeout=limits.limit)
    return child_checks.check_procedures_with_tools(places.procedures, found, catalog)


def _load(folders: Sequence[ToolFolder], limits: Settings, progress: _Progress) -> list[Candidate]:
    if limits.imports:
        return load_in_child(folders, limits, observe=progress.advance, echo=_echo)
    candidates = []
    for folder in folders:  # parsing runs nothing of a tool, so that no child is needed
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
        # in the log of a workflow a bar would be a line for each tool
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


_ADVICE = (
    "name the directory under 'plugins' in pyproject.toml or in SOVL_TOOLS_PLUGINS_DIR;"
    " then sovl-tools validate checks it"
)


class Places(NamedTuple):
    """What is to be checked, and the settings that hold."""

    configuration: Configuration
    folders: tuple[str, ...]
    plugins: tuple[str, ...]
    procedures: tuple[str, ...]
    misplaced: tuple[Diagnostic, ...] = ()


def places_of(paths: Sequence[str], tools: Sequence[str]) -> Places:
    """Return what paths name; without any, all that is configured.

    Raises:
        Misuse: a path is not there.
    """
    for path in paths:
        if not os.path.lexists(path):
            raise Misuse(f"there is no {path!r}")
    procedures, rest = _split_paths(paths)  # by names alone: nothing is imported for that
    found = settings(tools or rest, needs_tools=False)
    if rest:
        plugins, folders = _named_plugins(rest, found.plugins)
        misplaced = {path: each for path in folders if (each := _misplaced(path)) is not None}
        kept = tuple(path for path in folders if path not in misplaced)
        return Places(found, kept, tuple(plugins), procedures, tuple(misplaced.values()))
    if not paths:
        for path in found.procedures:
            if not os.path.isdir(path):
                raise Misuse(f"there is no directory of procedures {path!r}")
        own = found.procedures or (DIRECTORY,) * os.path.isdir(DIRECTORY)
        files = [each for path in own for each in (*files_in(path), *find_procedures(path))]
        # those among tools and plugins are told by their content
        others = filter(os.path.isdir, (*found.paths, *found.plugins))
        files += [each for path in others for each in find_procedures(path)]
        procedures = tuple(dict.fromkeys(files))
    # where there is nothing else to check, a missing ./tools is misuse
    if not (procedures or found.plugins):
        settings(tools)
    kept = tuple(filter(os.path.exists, found.paths))
    return Places(found, kept, () if paths else found.plugins, procedures)


def _split_paths(paths: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the files of procedures that paths name or hold, and the paths that are of tools."""
    files: list[str] = []
    others: list[str] = []
    plugins = configuration().plugins if paths else ()
    for path in paths:
        # a directory can be of both, and a file of procedures may lie in any
        is_folder = os.path.isdir(path)
        found = find_procedures(path) if is_folder else [path] * is_procedure(path)
        files += found
        if not found or (is_folder and (_has_tools(path) or _named_plugins([path], plugins)[0])):
            others.append(path)
    return tuple(dict.fromkeys(files)), tuple(others)


def _has_tools(path: str) -> bool:
    """Tell whether a path is a tool's folder or a directory of such."""
    location = os.path.abspath(path)
    if tool_folder(path, location) is not None:
        return True
    return any(tool_folder(each.path, each.location) for each in discover(path, location))


def without_procedures(collected: Collected, files: Sequence[str]) -> Collected:
    """Leave out folders in which there are only procedures, and that these are no tools."""

    def holds(path: str) -> bool:
        return any(each.startswith(os.path.join(path, "")) for each in files)

    folders = tuple(
        each
        for each in collected.folders
        if not holds(each.path) or tool_folder(each.path, each.location) is not None
    )
    return Collected(folders, tuple(each for each in collected.diagnostics if not holds(each.path)))


def _named_plugins(paths: Iterable[str], plugins: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the configured directories of modules that paths name or lie in, and other paths."""
    named, others = [], []
    for path in paths:
        location = os.path.abspath(path)
        around = [
            each
            for each in plugins
            if f"{location}{os.sep}".startswith(f"{os.path.abspath(each).rstrip(os.sep)}{os.sep}")
        ]
        named += around[:1]
        others += [] if around else [path]
    return list(dict.fromkeys(named)), others


def _misplaced(path: str) -> Diagnostic | None:
    """Return that a path holds modules outside of tool folders, which nobody has configured."""
    location = os.path.abspath(path)
    if tool_folder(path, location) is not None:
        return None
    rule = words = None
    if os.path.isfile(location) and path.endswith(".py"):
        rule, words = missing_directory, f"{path} is a module in no tool folder"
    else:
        with suppress(OSError):
            is_code = any(name.endswith(".py") for name in os.listdir(location))
            if is_code and not _has_tools(path):
                rule, words = no_tools, f"there is no tool folder in {path}, only modules"
    if rule is None or words is None:
        return None
    return Diagnostic(rule.code, rule.severity, words, _ADVICE, None, path, 1, 1)
