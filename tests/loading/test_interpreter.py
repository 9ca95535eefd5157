"""What foreign code may not take from others is told; what it may change is left alone."""

from __future__ import annotations

import builtins
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest

from sovl_tools.loading.child import DamageError, Interpreter

NAMES = vars(builtins)


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    """Let no mistake here hurt other tests."""
    limit, path, paths, names = sys.getrecursionlimit(), sys.path, [*sys.path], dict(NAMES)
    modules, every = sys.modules, dict(sys.modules)
    yield
    sys.setrecursionlimit(limit)
    sys.path, sys.modules = path, modules
    path[:] = paths
    for name in NAMES.keys() - names.keys():
        del NAMES[name]
    NAMES.update(names)
    modules.update(every)


def test_a_lowered_recursion_limit_is_put_back() -> None:
    before = sys.getrecursionlimit()
    with pytest.raises(DamageError, match=r"^it lowers the recursion limit to 500$"), Interpreter():
        sys.setrecursionlimit(500)
    assert sys.getrecursionlimit() == before


@pytest.mark.parametrize(("before", "after"), [(5000, 1000), (1000, 5000), (500, 700)])
def test_another_limit_that_is_enough_stays(before: int, after: int) -> None:
    sys.setrecursionlimit(before)
    with Interpreter():
        sys.setrecursionlimit(after)
    assert sys.getrecursionlimit() == after


@pytest.mark.parametrize("name", ["ascii", "memoryview", "BufferError"])
def test_a_builtin_that_is_taken_away_is_put_back(name: str) -> None:
    before = NAMES[name]
    for value in (None, 5):
        with (
            pytest.raises(DamageError, match=f"^it takes away the builtin '{name}'$"),
            Interpreter(),
        ):
            NAMES[name] = value
        assert NAMES[name] is before
    with pytest.raises(DamageError), Interpreter():
        del NAMES[name]
    assert NAMES[name] is before


def test_builtins_that_work_are_left_as_they_are() -> None:
    def loud(*_: Any) -> None: ...

    with Interpreter():
        NAMES["ascii"], NAMES["extra"] = loud, loud
    assert (NAMES["ascii"], NAMES["extra"]) == (loud, loud)
    with pytest.raises(DamageError, match="'ascii'"), Interpreter():
        del NAMES["ascii"]
    assert NAMES["ascii"] is loud


@pytest.mark.parametrize("name", ["_", "added_by_a_program"])
def test_a_builtin_that_is_not_of_python_comes_and_goes(name: str) -> None:
    for value in (len, 5):
        with Interpreter():
            NAMES[name] = value
        assert NAMES[name] is value
    with Interpreter():
        del NAMES[name]
    assert name not in NAMES


EMPTIED = {
    "cleared": "sys.path.clear()",
    "another": "sys.path = []",
    "none": "sys.path = None",
    "gone": "del sys.path",
}


@pytest.mark.parametrize("how", EMPTIED)
def test_a_module_path_without_the_standard_library_is_put_back(how: str) -> None:
    path, paths = sys.path, [*sys.path]
    with pytest.raises(DamageError, match=r"^it takes the standard library out of"), Interpreter():
        exec(EMPTIED[how])
    assert sys.path is path
    assert sys.path == paths


def test_what_was_added_to_the_path_stays() -> None:
    with Interpreter():
        sys.path = ["first", *sys.path]
    assert sys.path[0] == "first"


def test_an_interpreter_without_that_path_is_no_damage() -> None:
    sys.path[:] = ["archive"]
    with Interpreter():
        sys.path.clear()
    assert sys.path == []


def test_modules_that_nobody_can_do_without_are_put_back() -> None:
    before = dict(sys.modules)
    count = r"^it takes \d+ modules out of sys.modules$"
    with pytest.raises(DamageError, match=count), Interpreter():
        sys.modules.clear()
    assert sys.modules == before


def test_another_dictionary_in_the_place_of_the_modules_is_taken_out() -> None:
    before = sys.modules
    with Interpreter():
        sys.modules = {}
    assert sys.modules is before


def test_other_modules_may_go() -> None:
    sys.modules["surely_no_library"] = ModuleType("surely_no_library")
    with Interpreter():
        del sys.modules["surely_no_library"]
    assert "surely_no_library" not in sys.modules


def test_an_exception_of_the_code_itself_goes_before() -> None:
    with pytest.raises(ZeroDivisionError), Interpreter():
        NAMES["ascii"] = 1 / NAMES.pop("ascii").__doc__.count("surely not in there")
    assert ascii(0) == "0"


def test_damage_is_remembered() -> None:
    interpreter = Interpreter()
    with interpreter:
        pass
    assert not interpreter.is_damaged
    for expected, code in ((DamageError, "pass"), (ZeroDivisionError, "1 / 0")):
        interpreter = Interpreter()
        with pytest.raises(expected), interpreter:
            exec(f"del NAMES['ascii']; {code}")
        assert interpreter.is_damaged
