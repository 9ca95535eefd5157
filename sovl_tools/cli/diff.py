"""``sovl-tools diff``."""

from __future__ import annotations

import io
import os
import tarfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from tempfile import TemporaryDirectory

import click

from sovl_tools.cli import option
from sovl_tools.cli.command import FINDINGS, Command, Misuse, refuse_unlisted, settings
from sovl_tools.cli.git import commit, git, top
from sovl_tools.cli.output import show, show_json
from sovl_tools.configuration import Configuration
from sovl_tools.linting.diff import ToolChange, ToolVersion, compare, versions_of
from sovl_tools.loading.sources import collect
from sovl_tools.reporting.outcome import counted
from sovl_tools.reporting.text import Piece, plain

EXAMPLES = """\b
Examples:
  sovl-tools diff main                    the tools here and those of a branch
  sovl-tools diff v1.2 v1.3               two revisions
  sovl-tools diff old/tools new/tools     two directories
  sovl-tools diff v1.3 --release 2.0      deprecated tools may be gone in 2.0"""
EXITS = {
    1: "Something breaks in a tool whose version is not higher than before.",
    2: "A directory or revision doesn't exist, or git or a repository is missing.",
}
_TINTS = {"breaking": "red", "compatible": "green", "wording": "cyan"}


@click.command(cls=Command, epilog=EXAMPLES, exits=EXITS)
@click.argument("old", metavar="OLD")
@click.argument("new", metavar="[NEW]", required=False)
@option.tools
@click.option(
    "--release",
    metavar="VERSION",
    help="What NEW is released as: a deprecated tool may be gone from the release in removed_in.",
)
@option.format_("text", "json")
@click.pass_context
def diff(
    ctx: click.Context,
    *,
    old: str,
    new: str | None,
    tools: tuple[str, ...],
    release: str | None,
    format_: str,
) -> None:
    """Show changes in tools: breaking ones, compatible ones, and changed words.

    OLD and NEW are directories of tools, or else revisions of git, whose configured directories
    are compared. Without NEW the current tools are compared. No module is imported.

    Breaking changes are: a tool that is gone and wasn't deprecated before, or is gone before its
    removed_in; an alias that is gone; arguments that the old schema accepts and the new one
    may reject, such as a new required parameter, another type, fewer values or narrower bounds;
    results that the old output_schema didn't allow; annotations that promise less. A change that
    can't be compared counts as breaking. Breaking changes are fine if the manifest's "version" is
    higher than before. A tool whose old name is an alias now is compared with what it was.
    """
    found = settings(tools, needs_tools=new is None, imports=False)
    before, now = _tools(old, found), _tools(new, found)
    if not before and not now:
        raise Misuse("there's no sound tool on either side")
    changes = compare(before, now, release=release)
    if format_ == "json":
        document = {"version": 1, "tools": [*map(_document, changes)]}
        show_json(document, indent=2)
    else:
        broken = sum(each.is_broken for each in changes)
        words = f"; {broken} with breaking changes and no higher version" if broken else ""
        summary = f"{counted(len(changes), 'tool')} changed{words}"
        pieces = [*chain.from_iterable(map(shown_change, changes)), summary]
        show(pieces if changes else "no tool has changed")
    ctx.exit(FINDINGS if any(each.is_broken for each in changes) else 0)


def _tools(side: str | None, found: Configuration) -> dict[str, ToolVersion]:
    """Return the tools of a directory, of a revision, or by default those that are here.

    Raises:
        Misuse: there is neither a directory nor a revision of that name.
    """
    if side is None:
        return _in(found.paths, found)
    if os.path.isdir(side):
        return _in([side], found)
    with _checkout(side, found.paths) as paths:
        return _in(paths, found)


def _in(paths: Sequence[str], found: Configuration) -> dict[str, ToolVersion]:
    there = filter(os.path.exists, paths)
    collected = collect(there, exclude=found.exclude)
    refuse_unlisted(collected.diagnostics)
    return versions_of(collected.folders)


@contextmanager
def _checkout(revision: str, paths: Sequence[str]) -> Iterator[list[str]]:
    """Write what a revision had at some paths into a temporary directory.

    Raises:
        Misuse: there's no git, no repository here, or no such revision.
    """
    try:
        root, known = top(), commit(revision)
    except Misuse as error:
        raise Misuse(f"there's no directory {revision!r}, and {error.message}") from error
    names = [os.path.relpath(os.path.realpath(path), os.path.realpath(root)) for path in paths]
    for path, name in zip(paths, names, strict=True):
        if name.split(os.sep)[0] == "..":
            raise Misuse(f"{path!r} is outside of the repository, so no revision has it")
    listed = ("-C", root, "ls-tree", "-z", known, "--")
    there = [each for each in names if each == "." or git(*listed, each.replace(os.sep, "/"))]
    with TemporaryDirectory(prefix="sovl-tools-") as directory:
        if there:
            options = ("--literal-pathspecs", "-C", root, "archive", "--format=tar")
            written = git(*options, known, "--", *there)
            _extract(written, directory)
        yield [os.path.join(directory, each) for each in there]


def _extract(written: bytes, directory: str) -> None:
    def only_files(member: tarfile.TarInfo, path: str) -> tarfile.TarInfo | None:
        # a link may lead to a file of another revision
        return tarfile.data_filter(member, path) if member.isfile() else None

    with tarfile.open(fileobj=io.BytesIO(written)) as archive:
        archive.extractall(directory, filter=only_files)  # noqa: S202 - the filter checks them


def _document(change: ToolChange) -> dict[str, object]:
    return {
        "name": change.name,
        "status": change.status,
        "old_version": change.old,
        "new_version": change.new,
        "breaks": change.is_broken,
        "changes": [each._asdict() for each in change.changes],
    }


def shown_change(change: ToolChange) -> Iterator[Piece]:
    """Yield the lines about a changed tool."""
    head = f"{change.name} {change.new or change.old or ''}".rstrip()
    if change.status in {"changed", "renamed"} and change.old != change.new:
        head = f"{change.name} {change.old or '(no version)'} → {change.new or '(no version)'}"
    yield f"{plain(head)}\n"
    width = max(map(len, _TINTS))
    for each in change.changes:
        yield from ("  ", (each.kind, _TINTS[each.kind]), " " * (width - len(each.kind)))
        yield f"  {plain(each.message)}\n"
