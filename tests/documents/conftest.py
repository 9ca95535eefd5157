"""Distributions and packages that are there for one test."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

Install = Callable[..., Path]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Write files that can be imported: ``install({"pack/a.py": …}, entries={"a": "pack.a:A"})``.

    ``entries`` are the entry points of a distribution that is there from then on.
    """
    site = tmp_path / "site"
    site.mkdir()
    monkeypatch.syspath_prepend(str(site))
    before = {*sys.modules}

    def write(files: dict[str, str], entries: dict[str, str] | None = None) -> Path:
        if entries is not None:
            lines = "\n".join(f"{name} = {value}" for name, value in entries.items())
            folder = f"thing{len(list(site.glob('*.dist-info')))}-1.0.dist-info"
            name = f"Metadata-Version: 2.1\nName: {folder.partition('-')[0]}\nVersion: 1.0\n"
            group = f"[sovl_tools.tools]\n{lines}\n"
            files = {**files, f"{folder}/METADATA": name, f"{folder}/entry_points.txt": group}
        for name, content in files.items():
            (site / name).parent.mkdir(parents=True, exist_ok=True)
            (site / name).write_text(content, encoding="utf-8")
        importlib.invalidate_caches()
        return site

    yield write
    for name in {*sys.modules} - before:
        if str(site) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]
