"""The maps for whoever changes the project name only what is there."""

from __future__ import annotations

import re

import pytest

from tests.conftest import REPOSITORY

PATH = re.compile(r"`((?:sovl_tools|schemas|scripts|tests|docs)/[\w./-]*\w/?)`")


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "docs/architecture.md", "docs/benchmarks.md"])
def test_every_path_on_a_map_is_there(page: str) -> None:
    named = set(PATH.findall((REPOSITORY / page).read_text(encoding="utf-8")))
    assert named
    assert [path for path in sorted(named) if not (REPOSITORY / path).exists()] == []
