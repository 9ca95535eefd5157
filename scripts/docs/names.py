"""The table of names from other systems in ``docs/migration.md``, written from the one in the code.

python scripts/docs/names.py
"""

from __future__ import annotations

import re
from pathlib import Path

from sovl_tools.model.former_names import NAMES

PAGE = Path(__file__).parents[2] / "docs" / "migration.md"
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


def page(text: str) -> str:
    """Return the page with the table."""
    between = r"(?<=<!-- names -->\n\n).*?(?=\n\n<!-- /names -->)"
    return re.sub(between, lambda _: table(), text, flags=re.DOTALL)


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
