"""Where functions, classes and parameters stand."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from sovl_tools.loading.location import SourceLocation, location_of

SOURCE = '''\
import functools


def plain(first, second=1, /, *rest, only, **others):
    return first


@functools.cache
@functools.wraps(
    plain,
)
async   def  decorated(
    text: str,
    länge: int, größe: int,
) -> None: ...


class Outer:
    class Inner:
        def method(self, text): ...

    @classmethod
    def of_class(cls, text): ...

    def __call__(self, text): ...


class Inner: ...


def maker():
    """
    def inner(): ...
    """
    def inner(text):
        return lambda word: word
    return inner


def wrapped(function):
    @functools.wraps(function)
    def wrapper(*given):
        return function(*given)
    return wrapper


both = wrapped(plain)
short = lambda word: word
partial = functools.partial(plain, 1)
renamed = maker()
renamed.__name__ = renamed.__qualname__ = "other"
'''


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "things.py"
    file.write_text(SOURCE, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("things", file)
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "things", made)
    spec.loader.exec_module(made)
    return made


@pytest.mark.parametrize(
    ("expression", "parameter", "place"),
    [
        ("plain", None, (4, 5)),
        ("plain", "first", (4, 11)),
        ("plain", "second", (4, 18)),
        ("plain", "rest", (4, 32)),
        ("plain", "only", (4, 38)),
        ("plain", "others", (4, 46)),
        ("plain", "absent", (4, 5)),
        ("decorated.__wrapped__.__wrapped__", None, (4, 5)),
        ("Outer", None, (18, 7)),
        ("Outer", "text", (18, 7)),
        ("Outer.Inner", None, (19, 11)),
        ("Outer.Inner.method", None, (20, 13)),
        ("Outer.Inner().method", "text", (20, 26)),
        ("Outer.of_class", None, (23, 9)),
        ("Outer.of_class", "text", (23, 23)),
        ("Outer()", None, (25, 9)),
        ("Outer()", "text", (25, 24)),
        ("Outer.Inner()", None, (19, 11)),
        ("Inner", None, (28, 7)),
        ("maker()", None, (35, 9)),
        ("maker()", "text", (35, 15)),
        ("maker()", "word", (35, 9)),
        ("maker()('')", None, (36, 1)),
        ("maker()('')", "word", (36, 23)),
        ("both", None, (4, 5)),
        ("both", "only", (4, 38)),
        ("short", None, (48, 1)),
        ("short", "word", (48, 16)),
        ("partial", None, (4, 5)),
        ("renamed", None, (35, 9)),
    ],
)
def test_a_name_or_a_parameter_has_an_exact_place(
    module: ModuleType, expression: str, parameter: str | None, place: tuple[int, int]
) -> None:
    value = eval(expression, vars(module))
    assert location_of(value, parameter) == SourceLocation("things.py", *place)


@pytest.mark.parametrize("content", [None, "def plain(", "\0", "x = 1\n"])
def test_without_the_source_the_line_is_that_of_the_code(
    module: ModuleType, tmp_path: Path, content: str | None
) -> None:
    file = tmp_path / "things.py"
    file.unlink() if content is None else file.write_text(content)
    for parameter in (None, "only"):
        assert location_of(module.plain, parameter) == SourceLocation("things.py", 4)
    assert location_of(module.Outer) == SourceLocation("things.py", 1)


def test_what_has_no_file_is_known_by_its_module() -> None:
    assert location_of(5) == SourceLocation("builtins")
    assert location_of(len) == SourceLocation("builtins")
