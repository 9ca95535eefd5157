"""The table of names from other systems, from the one in the code."""

from __future__ import annotations

from sovl_tools.model.former_names import NAMES

_OF = {
    "ToolDefinition": " of a tool definition",
    "ToolRegistry": " of a registry",
    "Agent": " of an agent",
    "sovl_tools": "",
}


def table() -> str:
    """Return the table in Markdown."""
    lines = ["| in the documents | here |", "|---|---|"]
    for each in NAMES:
        names = ", ".join(f"`{name}{'=' if each.is_argument else ''}`" for name in each.names)
        prefix = {"ToolRegistry": "registry.", "Agent": "agent."}.get(each.owner, "")
        here = f"{each.here}=" if each.is_argument else f"{prefix}{each.here}"
        lines.append(f"| {names}{_OF[each.owner]} | `{here}` |")
    return "\n".join(lines)
