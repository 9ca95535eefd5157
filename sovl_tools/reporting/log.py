"""What the log says of loads and changes."""

from __future__ import annotations

import logging
from collections.abc import Iterable

from sovl_tools.model.catalog import Candidate, Catalog, CatalogChange, LoadReport
from sovl_tools.model.diagnostic import Diagnostic
from sovl_tools.reporting.text import plain

_LOGGER = logging.getLogger("sovl_tools")


def log_load(report: LoadReport) -> None:
    """Log each tool of a load: a warning for one that was rejected."""
    for each in report.folders:
        if each.status == "rejected":
            log_rejected(each)
        elif each.status == "loaded":
            _LOGGER.info("tool %s was loaded from %s", each.name, each.path)


def log_change(change: CatalogChange, catalog: Catalog, before: Iterable[Candidate]) -> None:
    """Log what has changed: a warning for each new version that was rejected.

    What was in the catalog before, as it is now, was logged then.
    """
    for kind in ("added", "updated", "removed"):
        for name in getattr(change, kind):
            _LOGGER.info("tool %s was %s", name, kind)
    if not change.rejected:
        return
    known = set(map(id, before))
    for each in catalog.candidates:
        if each.status == "rejected" and id(each) not in known and each.name in change.rejected:
            log_rejected(each)


def log_sources(found: Iterable[Diagnostic], before: Iterable[Diagnostic] = ()) -> None:
    """Log each source of tools, such as a directory or an entry point, that can't be loaded.

    What was wrong with one before was logged then.
    """
    known = set(before)
    for each in found:
        if each.severity == "error" and each not in known:
            _LOGGER.warning("tools can't be loaded: %s", plain(str(each)))


def log_rejected(candidate: Candidate) -> None:
    """Log why a tool was rejected."""
    reasons = plain("; ".join(candidate.reasons))
    subject = candidate.name if candidate.line else candidate.path
    _LOGGER.warning("tool %s was rejected: %s", plain(subject), reasons)
