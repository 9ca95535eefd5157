"""The files of the page of ``sovl-tools dev``."""

from __future__ import annotations

import hashlib
from importlib import resources
from pathlib import Path

PAGE = Path(str(resources.files("sovl_tools.serving") / "page"))
LIT = PAGE / "lit"


def test_they_are_small() -> None:
    files = [each for each in PAGE.rglob("*") if each.suffix in {".js", ".css", ".html", ".svg"}]
    assert sum(each.stat().st_size for each in files) <= 110 * 1024


def test_lit_html_is_what_its_hashes_say() -> None:
    lines = [each.split() for each in (LIT / "SHA256SUMS").read_text().splitlines()[1:]]
    files = {str(each.relative_to(LIT)): each.read_bytes() for each in LIT.rglob("*.js")}
    found = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
    assert found == {name: digest for digest, name in lines}
