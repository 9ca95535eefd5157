"""The names that authors' modules have in here, which nobody else knows."""

from __future__ import annotations

import re

TOOLS, PLUGINS = "sovl_tool_modules", "sovl_tool_plugins"
"""The packages above all tool folders, and above all directories of modules."""

_DIGEST = "[0-9a-f]{16}"
_PACKAGE = rf"\b(?:{TOOLS}|{PLUGINS})\.{_DIGEST}\b\.?"
_HELPER = rf"{TOOLS}\.{_DIGEST}\.([\w.]+)"
_MEMBER = rf"cannot import name '(\w+)' from '{TOOLS}\.{_DIGEST}'"


def as_written(text: str) -> str:
    """Return a text in which modules are called what relative imports call them."""
    return re.sub(_PACKAGE, ".", text)


def missing_helper(error: ImportError) -> str | None:
    """Return where the file would be that a relative import in a tool's folder has not found.

    It is relative to the folder, with slashes; None if something else is missing.
    """
    if isinstance(error, ModuleNotFoundError):
        found = re.fullmatch(_HELPER, str(error.name))
    else:
        found = re.match(_MEMBER, str(error.msg))
    return f"{found[1].replace('.', '/')}.py" if found else None
