"""Regular expressions in a child process, which two tools share."""

import subprocess
import sys
from types import ModuleType
from typing import Any

import pytest

from tests.tables import check_each

from .conftest import Module


@pytest.fixture
def patterns(module: Module) -> ModuleType:
    patterns: ModuleType = module("compare_values").patterns
    return patterns


@pytest.fixture
def worker(patterns: ModuleType) -> Any:
    return patterns.regex_worker


def search(patterns: ModuleType, pattern: str, *texts: str, limit: int = 9) -> Any:
    return patterns.search(pattern, texts, ignore_case=False, limit=limit)


def test_tells_where_the_first_match_of_each_text_begins(patterns: ModuleType) -> None:
    assert search(patterns, r"\d+", "a1b22", "none", "3", "") == [(0, 1), (2, 0)]
    assert search(patterns, "a", "a", "a", "a", limit=2) == [(0, 0), (1, 0)]
    assert search(patterns, "é\ud800$", "é\ud800") == [(0, 0)]


@check_each("pattern", ["(", "[", "*", "a{99999999999999999999}", "(?P<a>.)(?P<a>.)"])
def test_what_is_no_regular_expression_is_refused(patterns: ModuleType, pattern: str) -> None:
    with pytest.raises(ValueError, match="failed: it isn't a valid regular expression"):
        search(patterns, pattern, "a")


@pytest.mark.skipif(sys.platform != "linux", reason="other systems may not limit memory")
def test_the_child_limits_its_memory(worker: Any) -> None:
    script = (
        "import resource, runpy; "
        f"runpy.run_path({worker.__file__!r})['limit_memory'](); "
        "print(resource.getrlimit(resource.RLIMIT_AS)[0])"
    )
    command = [sys.executable, "-I", "-S", "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "1000000000\n"
