"""Wheels, built and installed in this process: pip takes seconds for each."""

from __future__ import annotations

import zipfile
from contextlib import chdir
from pathlib import Path

from hatchling.build import build_wheel


def install_from_source(source: Path, place: Path, site: Path) -> None:
    """Build a wheel of a project in a directory, and unpack it into another as installers do."""
    with chdir(source):
        wheel = build_wheel(str(place))
    with zipfile.ZipFile(place / wheel) as archive:
        archive.extractall(site)
