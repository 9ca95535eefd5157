"""Tests for names that say nothing about a tool."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sovl_tools.reloading.fingerprint import is_noise
from tests.schema.strategies import moderate
from tests.tables import check_each

NOISE = [
    *("__pycache__", "node_modules", ".git", ".venv", ".mypy_cache", ".DS_Store", ".env", "."),
    *("echo.pyc", "echo.cpython-311.pyc", "echo.pyo"),
    *("echo.py~", "echo.json.bak", "ECHO.BAK", "echo.py.orig", "echo.py.rej"),
    *(".echo.py.swp", "echo.py.swp", "echo.py.swo", "echo.py.swx", "4913"),
    *("#echo.py#", ".#echo.py", ".echo.py.kate-swp", "echo.py.kate-swp"),
    *("echo.py___jb_tmp___", "echo.py___jb_old___", "echo.py.vsctmp"),
    *("~$numbers.xlsx", ".~lock.numbers.ods#", ".goutputstream-K3X1Q2", "lu1234abcd.tmp"),
    *("echo.py.tmp", "model.bin.part", "model.bin.crdownload"),
    "two\nlines.tmp",
]

TOOLS = [
    *("echo", "echo.py", "echo.json", "_private.py", "__init__.py", "README.md", "LICENSE"),
    *("data.csv", "template.txt", "schema.sql", "prompt.j2", "words.tmpl", "numbers.xlsx"),
    *("tmp", "bak", "part", "swp", "pyc", "temporary", "partial.txt", "backup.json", "part.1.csv"),
    *("4913.txt", "14913", "#echo", "echo#", "~echo", "$echo", "pycache", "__pycache__.py"),
    *("echo.tmp.json", "echo.tmp.backup", "echo.tmp.1234.json", "notes.tmp.d", "echo.template.1"),
    "",
]


@check_each("name", NOISE, ids=repr)
def test_what_editors_and_caches_leave_is_noise(name: str) -> None:
    assert is_noise(name)


@check_each("name", TOOLS, ids=repr)
def test_what_tools_hold_is_not_noise(name: str) -> None:
    assert not is_noise(name)


ENDINGS = ("", ".py", ".json", ".csv", ".txt", ".md", ".html", ".sql", ".yaml", ".bin")


@moderate
@given(st.from_regex(r"[a-z][a-z_]{0,20}", fullmatch=True), st.sampled_from(ENDINGS))
def test_no_lower_case_word_with_a_common_ending_is_noise(word: str, ending: str) -> None:
    assert is_noise(word + ending) == (word == "node_modules" and not ending)
