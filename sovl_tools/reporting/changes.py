"""What changed, in words."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sovl_tools.model.catalog import CatalogChange
from sovl_tools.reporting.text import plain

_MOST_NAMES = 5


def listed(names: Sequence[str]) -> str:
    """Return the first of some names, and how many more there are."""
    first = ", ".join(plain(name) for name in names[:_MOST_NAMES])
    more = len(names) - _MOST_NAMES
    return f"{first} and {more:,} more" if more > 0 else first


def news(change: CatalogChange, serving: Collection[str]) -> list[tuple[str, str]]:
    """Return kinds of changes with the names of their tools; ``checked`` for mere diagnostics.

    Args:
        change: the change.
        serving: the rejected tools whose last good version keeps serving.
    """
    good = [name for name in change.rejected if name in serving]
    others = [name for name in change.rejected if name not in serving]
    kinds = [
        ("added", change.added, ""),
        ("updated", change.updated, ""),
        ("removed", change.removed, ""),
        ("waiting", change.waiting, ": not all files are there yet"),
        ("rejected", good, ": the last good version keeps serving"),
        ("rejected", others, ": not served"),
    ]
    found = [(word, f"{listed(names)}{remark}") for word, names, remark in kinds if names]
    places = sorted({each.tool or each.path for each in change.diagnostics})
    return found or [("checked", listed(places))]
