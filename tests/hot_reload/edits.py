"""Ways in which a tool's files change, and what must be true afterwards.

``CASES`` is the table. Most cases begin with two tools,
``echo``, which is edited, and ``other``, which must answer as ever throughout.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Mapping
from typing import Literal, NamedTuple, TypeAlias

from tests.hot_reload.editing import (
    MANY,
    NEW,
    OLD,
    SAME_SIZE,
    STEADY,
    Edit,
    branch_checked_out,
    counting_imports,
    data_saved,
    date_ahead,
    drifted,
    each,
    fresh_manifest,
    fresh_module,
    helped,
    helped_from_below,
    helper_saved_in_its_second,
    link_to,
    linked,
    linked_module,
    linked_module_renamed_over,
    linked_module_saved,
    littered,
    locked,
    manifest,
    manifest_saved_as,
    many,
    moved_in,
    moved_out,
    named_as,
    nothing,
    reading_data,
    removed,
    renamed_over_from_beside,
    renamed_over_from_elsewhere,
    renamed_to,
    replaced_by_a_file,
    restored,
    root_removed,
    run_sed,
    saved,
    saved_as,
    saved_behind,
    saved_by_jetbrains,
    saved_by_vim,
    saved_by_vs_code,
    saved_in_its_second,
    stuck,
    swept,
    synchronized,
    touched,
    two_branches,
    two_tools,
    two_tools_and_one_aside,
    unlocked,
    written,
)
from tests.hot_reload.workbench import GONE, Workbench

Expected: TypeAlias = Mapping[str, "str | tuple[str, ...]"]
How: TypeAlias = Literal["becomes", "stays", "serves", "quiet"]


class Step(NamedTuple):
    """An edit and what is expected of it.

    Attributes:
        edit: makes it.
        expected: by the name of a tool its answer, or the answers that are all right.
        how: ``"becomes"`` if that can take a while, ``"stays"`` if it must be so all the time,
            ``"serves"`` likewise if the edit breaks a tool that is to serve on as it was, or may
            be gone with a product that says so, ``"quiet"`` if no change can be announced either.
        description: what the product must say of ``echo`` as well.
    """

    edit: Edit
    expected: Expected
    how: How = "becomes"
    description: str = ""


class Case(NamedTuple):
    """Some edits, one after the other.

    Attributes:
        name: reads as the end of "a tool is …".
        steps: the edits. A tool that none of them speaks of must answer all the time what it
            did at the start.
        prepare: makes the files before the product starts.
        start: what must be so when it has.
        needs: keys of ``NEEDS``.
    """

    name: str
    steps: tuple[Step, ...]
    prepare: Edit = two_tools
    start: Expected = {"echo": OLD, "other": STEADY}  # noqa: RUF012 - never changed
    needs: tuple[str, ...] = ()


def _is_user() -> bool:
    return getattr(os, "geteuid", lambda: 0)() != 0


NEEDS: dict[str, tuple[str, Callable[[Workbench], bool]]] = {
    "manifest": ("has no manifests", lambda bench: bool(bench.layout.manifest)),
    "folder": ("tools are files", lambda bench: bool(bench.layout.nested)),
    "user": ("permissions do not bind root", lambda _: _is_user()),
    "git": ("git is not installed", lambda _: shutil.which("git") is not None),
    "sed": ("sed is another", lambda _: sys.platform == "linux" and bool(shutil.which("sed"))),
}
"""What a case may need: words for where it is not there, and how to find out."""


_NEW, _OLD, _GONE = {"echo": NEW}, {"echo": OLD}, {"echo": GONE}


def _edited(name: str, edit: Edit, *needs: str, answer: str = NEW) -> Case:
    return Case(name, (Step(edit, {"echo": answer}),), needs=needs)


def _mended(name: str, edit: Edit, *needs: str) -> Case:
    """Return the case of a tool that is broken by an edit and mended by the next."""
    steps = Step(edit, _OLD, "serves"), Step(written("echo", NEW), _NEW)
    return Case(f"{name}, then mended", steps, needs=needs)


CASES = (
    _edited("saved in place", saved(NEW)),
    Case(
        "saved in place, as many bytes within the same second",
        (Step(saved_in_its_second, {"echo": SAME_SIZE}),),
        each(two_tools, lambda bench: date_ahead(bench.module("echo"))),
    ),
    Case(
        "given another helper, as many bytes within the same second",
        (Step(helper_saved_in_its_second, {"echo": SAME_SIZE}),),
        each(
            two_tools,
            helped,
            lambda bench: date_ahead(bench.path(bench.layout.helper, "echo")),
        ),
    ),
    _edited("renamed over from the same directory (most editors)", renamed_over_from_beside),
    _edited("renamed over from another directory", renamed_over_from_elsewhere),
    _edited(
        "renamed over by a file of the same size and time (tar, cp -p)",
        restored,
        answer=SAME_SIZE,
    ),
    _edited("saved by vim: renamed to a backup, written again", saved_by_vim),
    _edited("saved by JetBrains: two renames", saved_by_jetbrains),
    _edited("saved by VS Code: emptied and written", saved_by_vs_code),
    Case(
        "emptied, and written a moment later",
        (Step(saved_as(""), {"echo": (OLD, GONE)}, "stays"), Step(saved(NEW), _NEW)),
    ),
    _edited("edited by sed -i", run_sed, "sed"),
    Case(
        "changed by git checkout",
        (Step(branch_checked_out, _NEW),),
        two_branches,
        needs=("git",),
    ),
    _edited("changed by rsync -a, to an older file", synchronized),
    Case("new", (Step(written("fresh", NEW), {"fresh": NEW}),)),
    Case(
        "new, its manifest first and its module a moment later",
        (
            Step(fresh_manifest, {"fresh": GONE}, "stays"),
            Step(fresh_module, {"fresh": NEW}),
        ),
        needs=("manifest",),
    ),
    Case(
        "new, its module first and its manifest a moment later",
        (
            Step(fresh_module, {"fresh": GONE}, "stays"),
            Step(fresh_manifest, {"fresh": NEW}),
        ),
        needs=("manifest",),
    ),
    Case("moved in", (Step(moved_in, {"fresh": NEW}),), two_tools_and_one_aside),
    Case("moved out", (Step(moved_out, _GONE),)),
    Case("renamed, inside as well", (Step(renamed_to("voice"), {"echo": GONE, "voice": OLD}),)),
    Case(
        "renamed, only its case changed",
        (Step(renamed_to("Echo"), {"echo": GONE, "Echo": OLD}),),
    ),
    Case("deleted", (Step(removed("echo"), _GONE),)),
    Case(
        "deleted, and made again later",
        (Step(removed("echo"), _GONE), Step(written("echo", NEW), _NEW)),
    ),
    _edited("deleted and made again at once", each(removed("echo"), written("echo", NEW))),
    Case("replaced by a plain file", (Step(replaced_by_a_file, _GONE),), needs=("folder",)),
    Case(
        "disabled in its manifest, and enabled again",
        (Step(manifest(enabled=False), _GONE), Step(manifest(), {"echo": OLD})),
        needs=("manifest",),
    ),
    Case(
        "described otherwise in its manifest, which imports nothing",
        (
            Step(
                manifest(description="Say something else."),
                {"echo": "1 import"},
                description="Say something else.",
            ),
        ),
        each(two_tools, counting_imports),
        {"echo": "1 import", "other": STEADY},
        ("manifest",),
    ),
    Case(
        "given another helper",
        (Step(lambda bench: bench.write_helper(bench.layout.helper, NEW), _NEW),),
        each(two_tools, helped),
    ),
    Case(
        "given another helper in its own package",
        (Step(lambda bench: bench.write_helper(bench.layout.nested, NEW), _NEW),),
        each(two_tools, helped_from_below),
        needs=("folder",),
    ),
    Case(
        "given other data that it reads when imported",
        (Step(data_saved(NEW), _NEW),),
        each(two_tools, reading_data),
    ),
    Case(
        "left without its function, then mended",
        (
            Step(saved_as("VALUE = 1\n"), {"echo": (OLD, GONE)}, "stays"),
            Step(saved(NEW), _NEW),
        ),
    ),
    _mended("broken by a syntax error", saved_as("def echo(:\n")),
    _mended("broken by an import that fails", saved(NEW, head="raise RuntimeError('broken')")),
    _mended("broken by a manifest that is cut off", manifest_saved_as('{"name": '), "manifest"),
    _mended("broken by a manifest that does not validate", manifest(parameters=3), "manifest"),
    _mended("broken by a parameter that its manifest has not", drifted, "manifest"),
    _mended("given the name of a tool that follows it", named_as("echo", of="other")),
    Case(
        "given the name of a tool that precedes it, then mended",
        (
            Step(named_as("other", of="echo"), {"other": STEADY}, "serves"),
            Step(written("other", NEW), {"other": NEW}),
        ),
    ),
    Case(
        "broken by an import without end, another tool edited, then mended",
        (
            Step(stuck, _OLD, "serves"),
            Step(saved(NEW, tool="other"), {"other": NEW}),
            Step(nothing, _OLD, "serves"),
            Step(saved(NEW), _NEW),
        ),
    ),
    Case(
        "a link to a folder, edited behind the link",
        (Step(saved_behind, _NEW),),
        linked,
        needs=("folder",),
    ),
    Case(
        "a folder with a link to its module, edited behind the link",
        (
            Step(linked_module_saved, _NEW),
            Step(linked_module_renamed_over, {"echo": SAME_SIZE}),
        ),
        linked_module,
    ),
    Case(
        "a link that is pointed elsewhere",
        (Step(link_to("elsewhere", NEW), _NEW),),
        linked,
    ),
    Case(
        "in a tools directory that is deleted, and made again with others",
        (
            Step(root_removed, {"echo": GONE, "other": GONE}),
            Step(written("fresh", OLD), {"echo": GONE, "fresh": OLD}),
            Step(saved(NEW, tool="fresh"), {"fresh": NEW}),
        ),
    ),
    Case(
        "in a tools directory that is not there at the start",
        (Step(two_tools, {"echo": OLD, "other": STEADY}), Step(saved(NEW), _NEW)),
        nothing,
        {},
    ),
    Case(
        "not readable, and readable again with another content",
        (Step(locked, _OLD, "serves"), Step(unlocked, _NEW)),
        needs=("user",),
    ),
    Case(
        "surrounded by litter, which changes nothing, then edited",
        (Step(littered, _OLD, "quiet"), Step(swept, _OLD, "quiet"), Step(saved(NEW), _NEW)),
    ),
    Case(
        "touched, which changes nothing, then edited",
        (Step(touched, _OLD, "quiet"), Step(saved(NEW), _NEW)),
    ),
    Case(
        "edited with another in one go",
        (Step(each(saved(NEW), saved(NEW, tool="other")), {"echo": NEW, "other": NEW}),),
    ),
    Case(
        "one of fifty that are edited in one go",
        (Step(many(NEW), dict.fromkeys(MANY, NEW)),),
        each(two_tools, many(OLD)),
        {"echo": OLD, "other": STEADY, **dict.fromkeys(MANY, OLD)},
    ),
    Case("one of fifty that are new in one go", (Step(many(NEW), dict.fromkeys(MANY, NEW)),)),
    Case("edited, and undone later", (Step(saved(NEW), _NEW), Step(saved(OLD), _OLD))),
    Case(
        "edited and undone at once, then edited",
        (Step(each(saved(NEW), saved(OLD)), _OLD), Step(saved(NEW), _NEW)),
    ),
)
