"""Sources that a machine keeps of tools whose folders are elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sovl_tools.dispatch import worker


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "sovl-tools" / "sources"


def test_what_is_kept_is_found_and_the_oldest_forgotten(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "_MOST_FILES", 2)
    found = (("a.json", b"{}"), ("a.py", bytes(range(256))))
    assert worker.load_drafts("one") == ()
    for digest in ("one", "two", "three"):
        worker.keep_drafts(digest, found)
        assert worker.load_drafts(digest) == found
    assert len([*cache.iterdir()]) == 2


def test_a_cache_that_can_not_be_written_is_none(cache: Path) -> None:
    cache.parent.parent.joinpath("sovl-tools").write_text("a file")
    worker.keep_drafts("one", (("a.json", b"{}"),))
    assert worker.load_drafts("one") == ()


@given(st.binary(max_size=40) | st.sampled_from([b"[[1, 2]]", b'[["a", "\\u20ac"]]', b"[[]]"]))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)
def test_damaged_files_are_none(cache: Path, data: bytes) -> None:
    cache.mkdir(parents=True, exist_ok=True)
    (cache / "one.json").write_bytes(data)
    assert all(isinstance(each, bytes) for _, each in worker.load_drafts("one"))
