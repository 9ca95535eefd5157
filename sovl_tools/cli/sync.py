"""``sovl-tools sync``."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from difflib import unified_diff

import click

from sovl_tools.cli import option
from sovl_tools.cli.command import FINDINGS, Command, note, settings
from sovl_tools.cli.load_tools import complete_names, named_folders
from sovl_tools.cli.output import show, show_diagnostics
from sovl_tools.loading.sources import Collected, collect
from sovl_tools.reporting.changes import listed
from sovl_tools.reporting.outcome import counted
from sovl_tools.reporting.text import Piece, plain
from sovl_tools.scaffolding.files import write_editor_schema
from sovl_tools.scaffolding.sync import Sync, plan_sync

EXAMPLES = """\b
Examples:
  sovl-tools sync                      every tool
  sovl-tools sync get_weather          one tool
  sovl-tools sync --check              in CI: fail if a manifest would change
  sovl-tools sync --output-schema      also add the schemas of results"""
EXITS = {1: "A contradiction needs a manual fix, or with --check a manifest would change."}


@click.command(cls=Command, epilog=EXAMPLES, exits=EXITS)
@click.argument("name", required=False, shell_complete=complete_names)
@option.tools
@option.check
@click.option(
    "--prune", is_flag=True, help="Remove properties and values that the function does not take."
)
@click.option(
    "--descriptions", is_flag=True, help="Take the docstring's words instead of the manifest's."
)
@click.option(
    "--output-schema", is_flag=True, help="Add the result's schema, by the return annotation."
)
@click.pass_context
def sync(
    ctx: click.Context,
    *,
    name: str | None,
    tools: tuple[str, ...],
    check: bool,
    prune: bool,
    descriptions: bool,
    output_schema: bool,
) -> None:
    """Bring manifests into line with their functions, and show the changes.

    Adds properties, values, defaults and descriptions that the signature, the docstring and @tool
    have and the manifest lacks, and corrects "required". The manifest's own values and layout stay;
    placeholders of "sovl-tools new" give way to the docstring.
    A folder without a manifest gets one. Contradictions are reported for you to fix. Where
    tool.schema.json is next to the folders, manifests get a "$schema" for editors.
    """
    found = settings(tools)
    collected = collect(found.paths, exclude=found.exclude)
    if name is not None:
        collected = Collected(tuple(named_folders(collected.folders, [name])), ())
    limit = found.import_timeout
    syncs = [
        plan_sync(
            folder,
            prune=prune,
            descriptions=descriptions,
            output_schema=output_schema,
            limit=limit,
        )
        for folder in collected.folders
    ]
    done = [each for each in syncs if check or _save(each)]
    show_diagnostics(collected.diagnostics)
    for each in done:
        if each.is_changed:
            path = f"{each.folder.path}/{each.folder.manifest_name}"
            show(difference(path, each.before, each.after))
        show_diagnostics(each.diagnostics())
        for each_note in each.notes:
            note(f"{each.folder.path}: {each_note}")
        if check and each.reworded:
            names = [repr(name) if name else "the tool" for name in each.reworded]
            words = f"the docstring describes {', '.join(names)} in other words"
            note(f"{each.folder.path}: {words}; sovl-tools sync --descriptions takes them")
    _note_results(done)
    changed = sum(each.is_changed for each in done)
    words = f"{counted(changed, 'manifest')} {'would change' if check else 'changed'}"
    tint = "yellow" if changed else "green"
    show([(f"{words}, of {counted(len(done), 'tool')}", tint)])
    is_flawed = len(done) < len(syncs) or any(each.diagnostics() for each in done)
    is_flawed |= any(each.severity == "error" for each in collected.diagnostics)
    ctx.exit(FINDINGS if is_flawed or (check and any(each.is_changed for each in done)) else 0)


def _note_results(done: Sequence[Sync]) -> None:
    """Offer the schemas of results that have known members."""
    names = [each.folder.name for each in done if each.offers_output]
    if names:
        advice = f"sovl-tools sync{f' {names[0]}' if len(names) == 1 else ''} --output-schema"
        note(f"{advice} can add the schema of the result to {listed(names)}")


def _save(each: Sync) -> bool:
    """Write the manifest if it has changed; return whether that succeeded."""
    try:
        if each.is_changed:
            each.save()
            if each.before is None:
                write_editor_schema(os.path.dirname(each.folder.location))
    except OSError as error:
        path = f"{each.folder.path}/{each.folder.manifest_name}"
        show(plain(f"{path} can't be written: {error.strerror}"), err=True)
        return False
    return True


_TINTS = {"---": "bold", "+++": "bold", "@@": "cyan", "-": "red", "+": "green"}


def difference(path: str, before: str | None, after: str | None) -> Iterator[Piece]:
    """Yield the lines of a unified diff of a file, which is new if there's no string before."""
    old = path if before is not None else "/dev/null"
    lines = unified_diff(_lines(before), _lines(after), old, path, lineterm="")
    for number, line in enumerate(part for each in lines for part in each.split("\n")):
        start = next((mark for mark in _TINTS if line.startswith(mark)), "")
        yield "\n" * (number > 0)
        yield plain(line.removesuffix("\r")), _TINTS.get(start, "")


def _lines(text: str | None) -> list[str]:
    """Return the lines of a string; the last one says so if no line break follows it."""
    if text is None:
        return []
    *lines, last = text.split("\n")
    return [*lines, f"{last}\n\\ No newline at end of file"] if last else lines
