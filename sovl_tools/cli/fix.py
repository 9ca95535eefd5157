"""What ``validate --fix`` and ``--diff`` do with what can be mended."""

from __future__ import annotations

from collections.abc import Sequence

import click

from sovl_tools.cli.command import is_quiet
from sovl_tools.cli.output import colored, write
from sovl_tools.cli.sync import difference
from sovl_tools.linting.mending import Check, Load, Mending
from sovl_tools.model.catalog import Candidate
from sovl_tools.model.folder import Settings, ToolFolder
from sovl_tools.reporting.outcome import counted
from sovl_tools.reporting.text import plain


def mend(
    folders: Sequence[ToolFolder],
    candidates: Sequence[Candidate],
    *,
    load: Load,
    check: Check,
    settings: Settings,
    unsafe: bool,
    procedures: Sequence[str] = (),
) -> Mending:
    """Return folders with what can be mended in them, which is not written yet."""
    by_location = {each.location: each for each in folders}
    found = {each.location: each for each in candidates}
    mending = Mending(by_location, found, load, check, settings, unsafe, procedures)
    mending.run()
    return mending


def show(mending: Mending) -> bool:
    """Show what would be changed; return whether there is anything."""
    changes = [*mending.changes()]
    for path, before, after in changes:
        write("\n".join(difference(path, before, after, color=colored())))
    if not is_quiet():
        words = f"would fix {counted(mending.fixed.total(), 'finding')}" if changes else "no fixes"
        click.echo(words, err=True)
    return bool(changes)


def save(mending: Mending) -> bool:
    """Write what is mended, and tell what can't be written; return whether all could."""
    failures = [*mending.save()]
    for words in failures:
        click.echo(plain(words), err=True)
    return not failures
