"""Tools that a model can't tell from each other: their descriptions are equal."""

from __future__ import annotations

from collections.abc import Iterable

from sovl_tools.loading.location import Locator
from sovl_tools.loading.rules.between import shared_description
from sovl_tools.loading.rules.folder import Unreadable
from sovl_tools.loading.sources import read_manifest
from sovl_tools.model.catalog import Candidate
from sovl_tools.model.diagnostic import MAX_FINDINGS, Diagnostic, ask
from sovl_tools.model.folder import ToolFolder

_FEWEST_WORDS = 4


def equal_descriptions(candidates: Iterable[Candidate]) -> list[Diagnostic]:
    """Return what is said of tools in folders whose description an earlier one has.

    A hundred are told; who has more has made them with a program.
    """
    found: list[Diagnostic] = []
    known: dict[str, str] = {}
    for each in candidates:
        # what stands in code has no manifest, and nobody is offered the others
        if each.line or each.status != "loaded":
            continue
        folder = ToolFolder(each.name, each.path, each.location)
        reading = read_manifest(folder)
        if isinstance(reading, Unreadable) or reading.manifest is None:
            continue
        manifest = reading.manifest
        words = str(manifest.document.get("description", "")).casefold().split()
        first = known.setdefault(" ".join(words), each.name)
        if first != each.name and len(words) >= _FEWEST_WORDS:
            verdicts = ask((shared_description,), first)
            found += Locator(folder, manifest.text).diagnostics(verdicts)
            if len(found) == MAX_FINDINGS:
                break
    return found
