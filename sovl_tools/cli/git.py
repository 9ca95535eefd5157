"""Questions to git."""

from __future__ import annotations

import os
import subprocess

from sovl_tools.cli.command import Misuse


def commit(revision: str) -> str:
    """Return the commit of a revision.

    Raises:
        Misuse: git can't be run, or knows no such revision.
    """

    def found(name: str) -> str:
        words = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
        return git(*words, may_fail=True).decode().strip()

    if not (known := found(revision)):
        reason = "is it fetched?" if found("HEAD") else "there's no commit yet"
        raise Misuse(f"unknown git revision {revision!r}; {reason}")
    return known


def git(*arguments: str, may_fail: bool = False) -> bytes:
    """Return what git writes; nothing if it fails where it may.

    Raises:
        Misuse: it can't be run, or fails.
    """
    try:
        done = subprocess.run(  # noqa: S603 - no shell, and no option comes from outside
            ["git", *arguments],  # noqa: S607 - the user's own, as in their shell
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise Misuse(f"git can't be run: {reason}") from error
    if done.returncode and not may_fail:
        reasons = os.fsdecode(done.stderr).strip().splitlines() or [f"exit code {done.returncode}"]
        raise Misuse(f"git can't list the changes: {reasons[0].removeprefix('fatal: ')}")
    return b"" if done.returncode else done.stdout


def top() -> str:
    """Return the directory of the repository.

    Raises:
        Misuse: there's no git, or no repository here.
    """
    # newlines are all that git writes behind it, and a directory's name may end in blanks
    return os.fsdecode(git("rev-parse", "--show-toplevel")).removesuffix("\n")


def changed_files(revision: str) -> frozenset[str]:
    """Return the absolute paths of files that differ from a revision.

    Whether they are staged or not, new and not ignored, renamed (both names) or deleted. With a
    revision of another branch, what has changed since the two parted.

    Raises:
        Misuse: there's no git, no repository here, or no such revision.
    """
    root = top()
    base = commit(revision)
    base = git("merge-base", base, "HEAD", may_fail=True).decode().split("\n")[0] or base
    names = ("--name-only", "--no-renames", "--no-relative", "--no-ext-diff", "-z")
    listed = (
        git("-C", root, "diff", *names, base, "--"),
        # what is staged differs, even where the file itself has been put back
        git("-C", root, "diff", "--cached", *names, base, "--"),
        git("-C", root, "ls-files", "--others", "--exclude-standard", "-z"),
    )
    found = {os.fsdecode(each) for written in listed for each in written.split(b"\0") if each}
    return frozenset(os.path.join(root, *each.split("/")) for each in found)
