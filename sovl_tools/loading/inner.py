"""The names that authors' modules have in here, which nobody else knows."""

from __future__ import annotations

import re

TOOLS, PLUGINS = "sovl_tool_modules", "sovl_tool_plugins"
"""The packages above all tool folders, and above all directories of modules."""

_DIGEST = "[0-9a-f]{16}"
_PACKAGE = re.compile(rf"\b(?:{TOOLS}|{PLUGINS})\.{_DIGEST}\b\.?")
_HELPER = re.compile(rf"{TOOLS}\.{_DIGEST}\.([\w.]+)")
_MEMBER = re.compile(rf"cannot import name '(\w+)' from '{TOOLS}\.{_DIGEST}'")


def as_written(text: str) -> str:
    """Return a text in which modules are called what relative imports call them."""
    return _PACKAGE.sub(".", text)


def missing_helper(error: ImportError) -> str | None:
    """Return where the file would be that a relative import in a tool's folder has not found.

    It is relative to the folder, with slashes; None if something else is missing.
    """
    if isinstance(error, ModuleNotFoundError):
        found = _HELPER.fullmatch(str(error.name))
    else:
        found = _MEMBER.match(str(error.msg))
    return f"{found[1].replace('.', '/')}.py" if found else None
