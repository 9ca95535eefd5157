"""From paths to a catalog: the whole pipeline, for all folders."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from time import time_ns
from typing import NamedTuple

from sovl_tools.loading.catalog_builder import combine
from sovl_tools.loading.discovery import Collected, collect
from sovl_tools.loading.pipeline import Settings
from sovl_tools.loading.supervision import load_folders
from sovl_tools.model.catalog import Candidate, Catalog


class Load(NamedTuple):
    """What was loaded from where.

    Attributes:
        paths: as the caller named them.
        base: what relative paths are relative to, should the current directory change.
        names: only these tools, unless it is None.
        settings: how the folders are loaded.
        collected: the folders.
        candidates: what became of them, in the same order.
        catalog: what was made of the candidates.
        moment: when it began, in nanoseconds since the epoch.
    """

    paths: Sequence[str | os.PathLike[str]] = ()
    base: str = ""
    names: Collection[str] | None = None
    settings: Settings = Settings()
    collected: Collected = Collected((), ())
    candidates: Sequence[Candidate] = ()
    catalog: Catalog = Catalog()
    moment: int = 0


def load(
    paths: Sequence[str | os.PathLike[str]],
    *,
    names: Collection[str] | None = None,
    settings: Settings,
) -> Load:
    """Take all tool folders of the paths through the pipeline, and combine what comes of them."""
    moment, base = time_ns(), os.path.abspath("")
    collected = collect(paths, names=names)
    candidates = load_folders(collected.folders, settings)
    return Load(paths, base, names, settings, collected, candidates, combine(candidates), moment)
