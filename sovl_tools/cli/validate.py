"""``sovl-tools validate``."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from time import perf_counter
from typing import NamedTuple

import click

from sovl_tools.cli.command import (
    FINDINGS,
    Command,
    Misuse,
    colored,
    import_timeout_option,
    settings,
    tools_option,
    write,
)
from sovl_tools.cli.plugin_paths import astray, named_plugins
from sovl_tools.cli.progress import Progress
from sovl_tools.configuration import Configuration, configuration
from sovl_tools.loading.catalog_builder import combine
from sovl_tools.loading.checks.folder import no_tools
from sovl_tools.loading.collecting import Collected, collect, report_of
from sovl_tools.loading.discovery import discover, tool_folder
from sovl_tools.loading.isolation import load_in_child
from sovl_tools.loading.pipeline import Settings, load_folder
from sovl_tools.model.catalog import Candidate, Catalog
from sovl_tools.model.diagnostic import Diagnostic, Rule
from sovl_tools.model.folder import ToolFolder
from sovl_tools.model.suggestion import did_you_mean
from sovl_tools.procedures.parse.files import (
    DIRECTORY,
    find_procedures,
    is_procedure,
)
from sovl_tools.procedures.parse.files import files as files_in
from sovl_tools.reporting.outcome import Outcome, selected, strict
from sovl_tools.reporting.rendering import FORMATS, render

EXAMPLES = """\b
Examples:
  sovl-tools validate                          whatever is configured
  sovl-tools validate tools/example_tool       one tool
  sovl-tools validate docs/examples/procedures procedures, and the tools
  sovl-tools validate --no-import              without running a line of any tool
  sovl-tools validate --format github          in a workflow
  sovl-tools validate --ignore ST306,ST305     without these warnings
  sovl-tools validate --target openai-strict,gemini"""


def _codes(_: click.Context, __: click.Parameter, values: Sequence[str]) -> tuple[str, ...]:
    """Split and check codes, which may be prefixes: ``ST4`` is all of ST4xx."""
    from sovl_tools.rules import RULES  # noqa: PLC0415 - only when codes are given

    codes = [code.strip().upper() for value in values for code in value.split(",") if code.strip()]
    for code in codes:
        if not any(known.startswith(code) for known in RULES):
            hint = did_you_mean(code, RULES) or "sovl-tools explain lists the codes"
            raise click.BadParameter(f"there is no code {code!r}; {hint}")
    return tuple(codes)


@click.command(cls=Command, epilog=EXAMPLES)
@click.argument("paths", nargs=-1, metavar="[PATH]...", type=click.Path())
@tools_option
@click.option("--no-import", is_flag=True, help="Parse the modules instead of importing them.")
@click.option(
    "--format", "format_", type=click.Choice(list(FORMATS)), default="text", show_default=True
)
@click.option("--select", multiple=True, callback=_codes, metavar="CODES", help="Only these codes.")
@click.option("--ignore", multiple=True, callback=_codes, metavar="CODES", help="Not these codes.")
@click.option(
    "--target", multiple=True, metavar="TARGETS", help="Tell what these formats lose of the tools."
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
    process, one after another, so that none can hang or end this one. Exits with 1 if there are
    errors; codes are explained by `sovl-tools explain CODE`.
    """
    started = perf_counter()
    wanted = _checked_targets(target) if target else ()
    places = _places(paths, tools)
    found = places.configuration
    collected = _without_procedures(collect(places.folders), places.procedures)
    limit = import_timeout or found.import_timeout
    limits = Settings(imports=not no_import, limit=limit, compiles=True)
    quiet = ctx.ensure_object(dict).get("quiet", False)
    with Progress(len(collected.folders), quiet=quiet) as progress:
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


class _Places(NamedTuple):
    """What is to be checked, and the settings that hold."""

    configuration: Configuration
    folders: tuple[str, ...]
    plugins: tuple[str, ...]
    procedures: tuple[str, ...]
    astray: tuple[Diagnostic, ...] = ()


def _places(paths: Sequence[str], tools: Sequence[str]) -> _Places:
    """Return what paths name; without any, all that is configured.

    Raises:
        Misuse: a path is not there.
    """
    for path in paths:
        if not os.path.lexists(path):
            raise Misuse(f"there is no {path!r}")
    procedures, rest = _parted(paths)
    found = settings(tools or rest, needs_tools=False)
    if rest:
        plugins, folders = named_plugins(rest, found.plugins)
        lost = {path: told for path in folders if (told := astray(path)) is not None}
        kept = tuple(path for path in folders if path not in lost)
        return _Places(found, kept, tuple(plugins), procedures, tuple(lost.values()))
    if not paths:
        procedures = _configured(found)
    if not (procedures or found.plugins):
        settings(tools)
    kept = tuple(filter(os.path.exists, found.paths))
    return _Places(found, kept, () if paths else found.plugins, procedures)


def _parted(paths: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the files of procedures that paths name or hold, and the paths that are of tools."""
    files: list[str] = []
    others: list[str] = []
    plugins = configuration().plugins if paths else ()
    for path in paths:
        is_folder = os.path.isdir(path)
        found = find_procedures(path) if is_folder else [path] * is_procedure(path)
        files += found
        if not found or (is_folder and (_has_tools(path) or named_plugins([path], plugins)[0])):
            others.append(path)
    return tuple(dict.fromkeys(files)), tuple(others)


def _has_tools(path: str) -> bool:
    location = os.path.abspath(path)
    own = tool_folder(path, location)
    inner = () if own is not None else discover(path, location)
    return own is not None or any(tool_folder(each.path, each.location) for each in inner)


def _configured(found: Configuration) -> tuple[str, ...]:
    """Return the files of procedures in all directories that are configured.

    Raises:
        Misuse: a directory of procedures is not there.
    """
    for path in found.procedures:
        if not os.path.isdir(path):
            raise Misuse(f"there is no directory of procedures {path!r}")
    own = found.procedures or (DIRECTORY,) * os.path.isdir(DIRECTORY)
    files = [each for path in own for each in (*files_in(path), *find_procedures(path))]
    others = filter(os.path.isdir, (*found.paths, *found.plugins))
    return tuple(
        dict.fromkeys([*files, *(each for path in others for each in find_procedures(path))])
    )


def _without_procedures(collected: Collected, files: Sequence[str]) -> Collected:
    """Leave out folders in which there are only procedures, and that these are no tools."""

    def holds(path: str) -> bool:
        return any(each.startswith(os.path.join(path, "")) for each in files)

    folders = tuple(
        each
        for each in collected.folders
        if not holds(each.path) or tool_folder(each.path, each.location) is not None
    )
    return Collected(folders, tuple(each for each in collected.diagnostics if not holds(each.path)))


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
    from sovl_tools.cli.procedure_files import (  # noqa: PLC0415 - only for procedures
        known_tools,
        wrong_in,
    )

    return wrong_in(files, None if validated is None else known_tools(found, validated))


def _load(folders: Sequence[ToolFolder], limits: Settings, progress: Progress) -> list[Candidate]:
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
