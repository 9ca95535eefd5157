"""The procedures that a command works on: files, and those that they run."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial

import click

from sovl_tools.cli.command import Misuse
from sovl_tools.model.catalog import Catalog
from sovl_tools.model.diagnostic import Diagnostic
from sovl_tools.model.document import JSON
from sovl_tools.procedures.parse.files import file_beside, files, is_procedure
from sovl_tools.procedures.parse.library import (
    ProcedureDocument,
    checked,
    read_found_procedure,
    read_procedure,
)
from sovl_tools.procedures.procedure import Procedure
from sovl_tools.reporting.text import block

_EXAMPLES = 5


def with_procedures_it_runs(source: str | Mapping[str, JSON]) -> tuple[ProcedureDocument, ...]:
    """Return a procedure and the files of all that it runs, each once.

    Raises:
        Misuse: there is no such file, or it can't be opened.
    """
    found = [_read(source)]
    paths = {os.path.abspath(found[0].path)}
    for each in found:  # grows on the way
        beside = (file_beside(each.path, name) for name in each.runs if each.path)
        for path in filter(None, beside):
            if os.path.abspath(path) not in paths:
                paths.add(os.path.abspath(path))
                found.append(_read(path))
    return tuple(found)


def _read(source: str | Mapping[str, JSON]) -> ProcedureDocument:
    try:
        return read_procedure(source)
    except OSError as error:
        if not isinstance(source, str) or not os.path.isdir(source):
            raise Misuse(f"{source}: {error.strerror or error}") from error
        found = []
        with suppress(OSError):  # it can't be listed
            found = [each for each in files(source) if is_procedure(each)]
        if not found:
            words = "without procedures; name the file of one"
            raise Misuse(f"{source} is a directory {words}") from error
        names = f"{', '.join(found[:_EXAMPLES])}{', …' if len(found) > _EXAMPLES else ''}"
        raise Misuse(f"{source} is a directory; name a procedure in it: {names}") from error


def print_diagnostics(diagnostics: Iterable[Diagnostic]) -> None:
    """Show diagnostics with excerpts on the error output."""
    color = sys.stderr.isatty() and not os.environ.get("NO_COLOR")
    for each in diagnostics:
        click.echo(block(each, color=color), err=True)


def shortest_path(path: str) -> str:
    """Return an absolute path as it is, or relative to the current directory if that is shorter."""
    try:
        return min(path, os.path.relpath(path), key=len)
    except ValueError:  # another drive
        return path


def check_procedures(paths: Sequence[str], catalog: Catalog | None) -> list[Diagnostic]:
    """Return all that is wrong with the procedures of some files.

    Args:
        paths: of the files.
        catalog: the tools; None if they are not known, then what needs them is not asked.
    """

    def other(path: str, name: str) -> Procedure | None:
        place = file_beside(path, name)
        return None if place is None else read_found_procedure(place).procedure

    return [
        each
        for path in paths
        for each in checked(read_found_procedure(path), catalog, partial(other, path))
    ]
