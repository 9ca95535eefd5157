"""Which files are of procedures, and where they are found."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from sovl_tools.model.document import JSON
from sovl_tools.model.path_patterns import PathPattern, is_matched, patterns_of
from sovl_tools.procedures.model import MAX_BYTES

SUFFIXES = (".yaml", ".yml", ".json")
"""What the names of files of procedures end in."""

DIRECTORY = "procedures"
"""What is in a directory of this name is a procedure, whatever it looks like."""

_SKIPPED = frozenset({"build", "dist", "node_modules", "site-packages"})
_ENVIRONMENTS = frozenset({"pyvenv.cfg", "conda-meta"})
"""What a folder holds that is an environment of Python's."""

# Of YAML that can't be read: somebody else's has no steps with actions at its top.
_LIKE_A_PROCEDURE = re.compile(
    rb"^steps[ ]*:(?=.*^[ ]*(?:-[ ]*)?\{?[ ]*action[ ]*:)", re.MULTILINE | re.DOTALL
)


def files(directory: str | os.PathLike[str]) -> list[str]:
    """Return the paths of the files of procedures in a directory, by name.

    Those whose names begin with ``.`` or ``_`` are left out, and so are directories in it.

    Raises:
        OSError: there is no such directory.
    """
    paths = (os.path.join(directory, each) for each in sorted(os.listdir(directory)))
    return [each for each in paths if _may_be(os.path.basename(each)) and not os.path.isdir(each)]


def file_beside(path: str, name: str) -> str | None:
    """Return the file of the procedure of a name in the directory of another file, if there is."""
    paths = (os.path.join(os.path.dirname(path), name + suffix) for suffix in SUFFIXES)
    return next(filter(os.path.isfile, paths), None)


def is_procedure(path: str) -> bool:
    """Tell whether a file that somebody has named is one of a procedure.

    Those of YAML and JSON are that have ``steps``, and those in folders called ``procedures``.
    """
    if not path.endswith(SUFFIXES) or _is_in_procedures(path):
        return path.endswith(SUFFIXES)
    document = _document(path)
    return isinstance(document, dict) and "steps" in document


def find_procedures(directory: str) -> list[str]:
    """Return the paths of the files of procedures in a directory and below.

    They are all in folders called ``procedures``, and elsewhere the documents that have ``steps``
    of which one has an ``action``. Folders that are hidden, ignored by Git or environments are
    left out.
    """
    found: list[str] = []
    for path in _walk(directory):
        is_one = _is_in_procedures(path)
        folder, name = os.path.split(os.path.abspath(path))
        # Not the manifest of a tool, whose parameters may well be called steps.
        if not is_one and name != f"{os.path.basename(folder)}.json":
            document = _document(path)
            steps = document.get("steps") if isinstance(document, dict) else None
            is_one = isinstance(steps, list) and any(
                isinstance(each, dict) and "action" in each for each in steps
            )
        if is_one:
            found.append(path)
    return found


def _may_be(name: str) -> bool:
    return name.endswith(SUFFIXES) and name[0] not in "._"


def _is_in_procedures(path: str) -> bool:
    return os.path.basename(os.path.dirname(os.path.abspath(path))) == DIRECTORY


def _document(path: str) -> JSON:
    """Return the document of a file, or what it would be if it could be read; None if neither."""
    from sovl_tools.procedures.parse.text import (  # noqa: PLC0415 - most files are none
        UnreadableError,
        read,
    )

    if not os.path.isfile(path):  # opening a FIFO would wait for whoever writes to it
        return None
    try:
        with open(path, "rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError:
        return None
    # Most files are somebody else's, and a look at the bytes spares the parser those.
    if b"steps" not in data or len(data) > MAX_BYTES:
        return None
    try:
        return read(data, path=path).value
    except UnreadableError:
        return {"steps": [{"action": ""}]} if _LIKE_A_PROCEDURE.search(data) else None


def _walk(directory: str) -> Iterator[str]:
    rules = {os.path.abspath(directory): _rules_around(os.path.abspath(directory))}
    for folder, folders, names in os.walk(directory):
        # Their packages may hold procedures that are nobody's here.
        if not _ENVIRONMENTS.isdisjoint((*folders, *names)):
            folders.clear()
            continue
        location = os.path.abspath(folder)
        around = rules.pop(location)
        if ".gitignore" in names:
            around = (*around, *_rules(location))
        folders[:] = sorted(  # in place, for os.walk goes on with what is left
            each
            for each in folders
            if each[0] not in "._"
            and each not in _SKIPPED
            and not is_matched(os.path.join(location, each), around, is_folder=True)
        )
        rules |= {os.path.join(location, each): around for each in folders}
        for name in sorted(filter(_may_be, names)):
            if not is_matched(os.path.join(location, name), around, is_folder=False):
                yield os.path.join(folder, name)


def _rules_around(location: str) -> tuple[PathPattern, ...]:
    """Return the rules of the folders around one, up to its repository or the current directory."""
    around: list[str] = []
    folder, here = location, os.getcwd()
    while folder != here and not os.path.exists(os.path.join(folder, ".git")):
        parent = os.path.dirname(folder)
        if parent == folder:  # in no repository at all, so that nothing around concerns it
            return ()
        around.insert(0, parent)
        folder = parent
    return tuple(rule for each in around for rule in _rules(each))


def _rules(folder: str) -> tuple[PathPattern, ...]:
    """Return the rules of a folder's ``.gitignore``."""
    try:
        with open(os.path.join(folder, ".gitignore"), encoding="utf-8", errors="replace") as file:
            return patterns_of(file.read().splitlines(), folder)
    except OSError:
        return ()
