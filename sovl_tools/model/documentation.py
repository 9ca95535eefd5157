"""The documentation site that our distribution names."""

from __future__ import annotations

from functools import cache


def rule_page(code: str) -> str | None:
    """Return the address of a rule's page; None while the distribution names no site."""
    site = _site()
    return site and f"{site}/reference/rules/{code}/"


@cache
def _site() -> str | None:
    from importlib.metadata import PackageNotFoundError, metadata  # noqa: PLC0415 - 20 ms

    try:
        named = metadata("sovl-tools").get_all("Project-URL") or []
    except PackageNotFoundError:  # run from its sources
        return None
    urls = dict(each.split(", ", 1) for each in named)
    return urls["Documentation"].rstrip("/") if "Documentation" in urls else None
