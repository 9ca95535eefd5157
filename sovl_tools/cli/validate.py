"""``sovl-tools validate``."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from time import perf_counter
from typing import Any, NamedTuple, TypeVar

import click

from sovl_tools.cli import option
from sovl_tools.cli.check import Check, lock_of, plugins_of
from sovl_tools.cli.command import FINDINGS, Command, Misuse, note
from sovl_tools.cli.output import excerpt_width, results, show, write, write_each
from sovl_tools.cli.places import Places, changed_places, is_direct, places_of, quotable
from sovl_tools.configuration import (
    DEFAULT_SOURCE,
    KEYS,
    Configuration,
    add_variables,
    configuration,
)
from sovl_tools.formats.export import Target
from sovl_tools.linting.fixing import Change, apply_changes, plan_changes
from sovl_tools.linting.rules import RULES
from sovl_tools.linting.selection import codes_of, selection_of, unquoted
from sovl_tools.model.catalog import LoadReport
from sovl_tools.model.errors import ConfigurationError
from sovl_tools.model.folder import Settings
from sovl_tools.reporting.changes import listed
from sovl_tools.reporting.outcome import (
    FORMATS,
    Destination,
    Outcome,
    counted,
    destinations_of,
    render,
)
from sovl_tools.reporting.text import is_within, outcome_pieces, plain, plain_json

_F = TypeVar("_F", bound=Callable[..., Any])

EXAMPLES = """\b
Examples:
  sovl-tools validate                          everything that is configured
  sovl-tools validate tools/example_tool       one tool
  sovl-tools validate --since origin/main      what my branch changes
  sovl-tools validate --no-import              without running any tool
  sovl-tools validate --format github          in a workflow
  sovl-tools validate --diff                   show what --fix would change
  sovl-tools validate --watch                  and again at each change"""
EXITS = {1: "There are errors.", 2: "A path is missing, or an option is wrong."}


def _selected_rules(name: str, words: str) -> Callable[[_F], _F]:
    """Add an option whose value names rules: ``ST4,missing-description``."""

    def read(values: Sequence[str]) -> tuple[str, ...]:
        return codes_of(each for value in values for each in value.split(",") if each.strip())

    callback = option.value_reader(read)
    return click.option(name, multiple=True, callback=callback, metavar="RULES", help=words)


def _targets(values: Sequence[str]) -> tuple[str, ...]:
    """Return targets such as ``openai-strict,gemini`` one by one."""
    names = [name.strip() for value in values for name in value.split(",") if name.strip()]
    if values and not names:
        raise ValueError("name at least one format")
    for name in names:
        Target.of(name)
    return tuple(dict.fromkeys(names))


def configured_targets(found: Configuration) -> tuple[str, ...]:
    """Return the targets of the configuration.

    Raises:
        ConfigurationError: a target is unknown.
    """
    try:
        return _targets(found.target)
    except ValueError as error:
        raise ConfigurationError(f"{found.file}: target", str(error)) from error


format_options = click.option(
    "--format",
    "formats",
    multiple=True,
    callback=option.value_reader(destinations_of),
    metavar="FORMAT[=FILE]",
    help="The format of the result, and the file; can be repeated. FORMAT is one of"
    f" {', '.join(FORMATS)}. Default: text.",
)


def rule_options(function: _F) -> _F:
    """Add the options that select rules."""
    return option.several(
        _selected_rules("--select", "Only these rules."),
        _selected_rules("--ignore", "Not these rules."),
        click.option("--warnings-as-errors", is_flag=True, help="Treat warnings as errors."),
    )(function)


def target_option(words: str) -> Callable[[_F], _F]:
    """Add ``--target``; ``words`` are its default."""
    return click.option(
        "--target",
        "targets",
        multiple=True,
        callback=option.value_reader(_targets),
        metavar="TARGETS",
        help=f"Report what these formats lose: openai-strict,gemini. Default: {words}.",
    )


@click.command(cls=Command, epilog=EXAMPLES, exits=EXITS)
@click.argument("paths", nargs=-1, metavar="[PATH]...", type=click.Path(readable=False))
@option.tools
@click.option("--no-import", is_flag=True, help="Only parse the modules; no code of a tool runs.")
@format_options
@click.option(
    "--since",
    metavar="REV",
    help="Only what changed since a git revision: HEAD, or where the branch left origin/main.",
)
@rule_options
@target_option("what serve omits")
@option.locked
@click.option("--fix", is_flag=True, help="Fix what has one sure fix, in the files.")
@click.option("--diff", is_flag=True, help="Show the changes of --fix without writing them.")
@click.option("--unsafe-fixes", is_flag=True, help="Include fixes that can miss the intention.")
@click.option("--watch", is_flag=True, help="Check again whenever a file changes, until Ctrl-C.")
@click.option(
    "--show-settings", is_flag=True, help="Print the settings and where each is from instead."
)
@click.pass_context
def validate(ctx: click.Context, /, **given: Any) -> None:
    """Check tool folders against the convention and their own code, and check procedures.

    PATH is a directory with tools and procedures, a tool folder or a file in it, a procedure, or a
    configured directory of plugins. Without PATH, all configured directories are checked. Other
    files are skipped, so you can pass lists of files. If a procedure changed, all tools are
    checked, because it can call any of them. Modules are imported one after another in a child
    process, so none can hang or end this one.

    RULES are codes, beginnings of codes, or names: ST305,ST4,missing-description. The longest one
    that matches a finding decides, and hidden findings don't fail. Separate RULES and TARGETS by
    commas, or repeat the option; it wins over the key of its name in pyproject.toml.
    `sovl-tools explain RULE` says more.

    --fix and --diff fix only the findings shown, once. One fix can reveal another finding: run
    --fix again while it says that more can be fixed. The files of a tool that gets worse by its
    fixes are put back.
    """
    asked = _Options(**given)
    if asked.show_settings:
        write(_settings_text(asked))
        ctx.exit(0)
    if asked.watch:
        from sovl_tools.cli.watch import recheck  # noqa: PLC0415 - 50 ms for its events

        if asked.diff or asked.fix:
            raise Misuse("--watch only looks: leave --fix and --diff out")
        recheck(partial(_check_once, asked), partial(_watched, asked))
        ctx.exit(0)
    ctx.exit(_check_once(asked))


def _check_once(asked: _Options) -> int:
    """Check once, and write the result; return the exit code."""
    started = perf_counter()
    places = _places(asked)
    roots = quotable(places, _named(asked, places.configuration))
    if asked.no_import:
        _check_links(asked.formats, places.configuration)
    destinations = destinations_for(asked.formats, places.configuration)
    check = _check_of(asked, places)
    folders = places.collected.folders
    candidates = check.load(folders)
    report, fixes = check.report(candidates)
    fixed: int | None = None
    failures: Sequence[str] = ()
    if asked.fix or asked.diff:
        unsafe = asked.unsafe_fixes
        changes = plan_changes(report, fixes, folders, check.settings, unsafe=unsafe)
        if asked.no_import:  # what strangers' links lead to isn't shown, and isn't written
            changes = [each for each in changes if each.is_within(roots)]
        if asked.diff:
            return _show(changes)
        before = {each.location: each for each in candidates}
        applied = apply_changes(changes, before, check.load, unsafe=unsafe)
        failures = applied.failures
        for words in failures:
            show(plain(words), err=True)
        left, fixes = check.report([*{**before, **applied.candidates}.values()])
        fixed = (_counted(report) - _counted(left)).total()
        report = left
    outcome = Outcome(
        unquoted(report, roots) if asked.no_import else report,
        perf_counter() - started,
        procedures=len(places.procedures),
        rules=RULES,
        imported=check.settings.imports,
        fixes={found: (fix.applicability, fix.message) for found, fix in fixes.items()},
        fixed=fixed,
        roots=roots,
    )
    if places.ignored:
        note(f"not checked, because no tool or procedure has them: {listed(places.ignored)}")
    write_outcome(outcome, destinations)
    return FINDINGS if failures or report.errors else 0


def _counted(report: LoadReport) -> Counter[tuple[str, str, str]]:
    """Return the findings of a report, wherever they are in their files."""
    return Counter((each.path, each.code, each.message) for each in report.diagnostics)


def _named_places(asked: _Options) -> Places:
    """Return the places on the command line, or the configured ones."""
    # a check imports tools in children; fixing a manifest imports its tool here
    imports = (asked.fix or asked.diff) and not asked.no_import
    return places_of(asked.paths, asked.tools, locked=asked.locked, imports=imports)


def _named(asked: _Options, found: Configuration) -> tuple[str, ...]:
    """Return the paths that the user has named, and not a file of the project."""
    is_user = found.source not in {DEFAULT_SOURCE, found.file}
    return (*asked.paths, *(found.paths if is_user else ()))


def _places(asked: _Options) -> Places:
    """Return the places to check."""
    places = _named_places(asked)
    if asked.since is not None:
        from sovl_tools.cli.git import changed_files  # noqa: PLC0415 - where git is asked

        return changed_places(places, changed_files(asked.since))
    if not asked.paths and places.is_empty and places.configuration.exclude:
        patterns = ", ".join(map(repr, places.configuration.exclude))
        raise Misuse(f"nothing is left to check: everything is excluded by {patterns}")
    return places


def _show(changes: Sequence[Change]) -> int:
    """Show how files would change; return the exit code."""
    from sovl_tools.cli.sync import difference  # noqa: PLC0415 - most only look

    for path, before, after in [edit for each in changes for edit in each.edits]:
        old = None if before is None else before.decode(errors="replace")
        new = after.decode(errors="replace")
        show(difference(path, old, new))
    fixed = sum(each.fixed for each in changes)
    note(f"would fix {counted(fixed, 'finding')}" if changes else "no fixes")
    return FINDINGS if changes else 0


def _watched(asked: _Options) -> list[str]:
    """Return the directories and files that a check reads."""
    places = _named_places(asked)
    found = places.configuration
    tools = asked.paths or found.paths
    return [*tools, *found.plugins, *found.procedures, *found.watch, *places.procedures]


# a stranger's pull request may name a file, but none that a program runs or reads as its settings
_REPORT_SUFFIXES = (".json", ".jsonl", ".sarif", ".xml", ".txt", ".log", ".md")


class _Options(NamedTuple):
    """The options of the command line, by the names of its parameters."""

    paths: tuple[str, ...]
    tools: tuple[str, ...]
    no_import: bool
    formats: tuple[Destination, ...]
    since: str | None
    select: tuple[str, ...]
    ignore: tuple[str, ...]
    targets: tuple[str, ...]
    locked: bool | None
    warnings_as_errors: bool
    fix: bool
    diff: bool
    unsafe_fixes: bool
    watch: bool
    show_settings: bool


def _check_links(formats: Iterable[Destination], found: Configuration) -> None:
    """Reject a file that a stranger's link leads to.

    Raises:
        Misuse: a link of the project is on the way to a file.
    """
    project = os.path.abspath(os.path.dirname(found.file or ""))
    for file in filter(None, (each.file for each in formats)):
        is_inside = os.path.abspath(file).startswith(os.path.join(project, ""))
        if is_inside and not is_direct(file, project):
            raise Misuse(f"--format: {file!r} is behind a link; name the file that it leads to")


def destinations_for(given: Sequence[Destination], found: Configuration) -> tuple[Destination, ...]:
    """Return the destinations of a result: the given ones, or the configuration's.

    Raises:
        ConfigurationError: the configuration names an unknown format, or a file that only the user
            may name.
    """
    if given:
        return tuple(given)
    source = f"{found.file}: format"
    try:
        destinations = destinations_of(found.format or ("text",))
    except ValueError as error:
        raise ConfigurationError(source, str(error)) from error
    project = os.path.realpath(os.path.dirname(found.file or ""))
    for each in destinations:
        real = each.file and os.path.realpath(each.file)  # of a link, too
        if real and not (is_within(real, [project]) and real.endswith(_REPORT_SUFFIXES)):
            words = f"{each.file!r} must be in {project!r}, and end with one of"
            advice = f"{', '.join(_REPORT_SUFFIXES)}; --format writes other files"
            raise ConfigurationError(source, f"{words} {advice}")
    return destinations


def _check_of(asked: _Options, places: Places) -> Check:
    """Return the check that the options and the configuration describe, with the plugins loaded.

    Raises:
        ConfigurationError: the configuration names a rule or a format that doesn't exist, or the
            lock can't be read.
    """
    found = places.configuration
    lock, removed = lock_of(places, imports=not asked.no_import)
    is_run = not asked.no_import
    if is_run:  # for the children
        add_variables(found)
    settings = Settings(imports=is_run, limit=found.import_timeout, locked=lock)
    selection = selection_of(found, asked.select, asked.ignore)
    targets = asked.targets or configured_targets(found)
    plugged, unusable = plugins_of(places, settings)
    return Check(
        places,
        settings,
        targets,
        selection,
        asked.warnings_as_errors or found.warnings_as_errors,
        plugged,
        (*places.collected.diagnostics, *unusable, *removed),
    )


def write_outcome(outcome: Outcome, destinations: Sequence[Destination]) -> None:
    """Write the result to its destinations, and the summary to the error output next to files.

    In a workflow of GitHub, annotations are written as well.

    Raises:
        ClickException: some can't be written; the others are written all the same.
    """
    try:
        write_each(
            (each.file, outcome_pieces(outcome, excerpt_width(results())))
            if each == Destination("text", None)
            else (each.file, render(outcome, each.format))
            for each in destinations
        )
    finally:
        shown = {each.format for each in destinations if each.file is None}
        if not shown:
            note(outcome.summary)
        if os.environ.get("GITHUB_ACTIONS") == "true" and shown <= _FOR_PEOPLE:
            from sovl_tools.reporting import services  # noqa: PLC0415 - in workflows only

            click.echo(services.github(outcome), err=True)
            services.add_to_summary(outcome)


_FOR_PEOPLE = frozenset({"text", "concise"})


def _settings_text(asked: _Options) -> str:
    """Return every setting, its value, and what named it.

    Raises:
        ConfigurationError: the configuration can't be read, or names an unknown rule or format.
    """
    found = configuration(asked.tools)
    selection_of(found)
    configured_targets(found)
    values = {key: getattr(found, key.replace("-", "_")) for key in KEYS}
    values["pythonpath"] = found.module_paths
    sources = {key: found.sources.get(key, DEFAULT_SOURCE) for key in values}
    if [each.format for each in asked.formats] == ["json"]:
        document = {key: {"value": value, "source": sources[key]} for key, value in values.items()}
        return plain_json(json.dumps(document, indent=2))
    lines = {key: f"{key} = {json.dumps(value)}" for key, value in values.items()}
    width = max(map(len, lines.values()))
    return "\n".join(plain(f"{line:{width}}  # {sources[key]}") for key, line in lines.items())
