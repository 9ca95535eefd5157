"""The files that git says have changed."""

from __future__ import annotations

import os

from sovl_tools.cli.command import Misuse
from sovl_tools.cli.git import commit, git, output


def changed_files(revision: str | None = None) -> frozenset[str]:
    """Return the absolute paths of files that differ from a revision, by default the last commit.

    Whether they are staged or not, new and not ignored, renamed (both names) or deleted. With a
    revision of another branch, what has changed since the two parted.

    Raises:
        Misuse: there is no git, no repository here, or no such revision.
    """
    # newlines are all that git writes behind it, and a directory's name may end in blanks
    root = os.fsdecode(git("rev-parse", "--show-toplevel")).removesuffix("\n")
    base = commit("HEAD" if revision is None else revision)
    if base is None and (revision is None or commit("HEAD") is None):
        raise Misuse("there is no commit yet with which files could be compared")
    if base is None:
        raise Misuse(f"git knows no revision {revision!r}; is it fetched?")
    if revision is not None:
        base = output("merge-base", base, "HEAD").decode().split("\n")[0] or base
    names = ("--name-only", "--no-renames", "--no-relative", "--no-ext-diff", "-z")
    listed = (
        git("-C", root, "diff", *names, base, "--"),
        # what is staged differs, even where the file itself has been put back
        git("-C", root, "diff", "--cached", *names, base, "--"),
        git("-C", root, "ls-files", "--others", "--exclude-standard", "-z"),
    )
    found = {os.fsdecode(each) for written in listed for each in written.split(b"\0") if each}
    return frozenset(os.path.join(root, *each.split("/")) for each in found)
