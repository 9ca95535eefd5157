"""What foreign code may not take from others is put back; what it may change is left alone."""

from __future__ import annotations

import builtins
import json
import os
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest

from sovl_tools.loading.interpreter import DamageError, intact, remembering

LIBRARY = os.path.dirname(os.__file__)
NAMES = vars(builtins)


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    """Let no mistake here hurt other tests."""
    limit, path, paths, names = sys.getrecursionlimit(), sys.path, [*sys.path], dict(NAMES)
    modules, every = sys.modules, dict(sys.modules)
    with remembering():
        pass
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
    with pytest.raises(DamageError, match=r"^it lowers the recursion limit to 500$"), intact():
        sys.setrecursionlimit(500)
    assert sys.getrecursionlimit() == before


@pytest.mark.parametrize(("before", "after"), [(5000, 1000), (1000, 5000), (500, 700)])
def test_another_limit_that_is_enough_stays(before: int, after: int) -> None:
    sys.setrecursionlimit(before)
    with intact():
        sys.setrecursionlimit(after)
    assert sys.getrecursionlimit() == after


@pytest.mark.parametrize("name", ["ascii", "memoryview", "BufferError"])
def test_a_builtin_that_is_taken_away_is_put_back(name: str) -> None:
    before = NAMES[name]
    for value in (None, 5):
        with pytest.raises(DamageError, match=f"^it takes away the builtin '{name}'$"), intact():
            NAMES[name] = value
        assert NAMES[name] is before
    with pytest.raises(DamageError), intact():
        del NAMES[name]
    assert NAMES[name] is before


def test_builtins_that_work_are_left_as_they_are() -> None:
    def loud(*_: Any) -> None: ...

    with intact():
        NAMES["ascii"], NAMES["extra"] = loud, loud
    assert (NAMES["ascii"], NAMES["extra"]) == (loud, loud)
    with pytest.raises(DamageError, match="'ascii'"), intact():
        del NAMES["ascii"]
    assert NAMES["ascii"] is loud


@pytest.mark.parametrize("name", ["_", "added_by_a_program"])
def test_a_builtin_that_is_not_of_python_comes_and_goes(name: str) -> None:
    for value in (len, 5):
        with intact():
            NAMES[name] = value
        assert NAMES[name] is value
    with intact():
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
    with pytest.raises(DamageError, match=r"^it takes the standard library out of"), intact():
        exec(EMPTIED[how])
    assert sys.path is path
    assert sys.path == paths


def test_what_was_added_to_the_path_stays() -> None:
    path = sys.path
    with intact():
        sys.path = ["first", *sys.path]
    assert sys.path[0] == "first"
    sys.path = path
    with pytest.raises(DamageError), intact():
        sys.path[:] = ["last"]
    assert sys.path[-1] == "last"
    assert LIBRARY in sys.path


def test_an_interpreter_without_that_path_is_no_damage() -> None:
    sys.path[:] = ["archive"]
    with intact():
        sys.path.clear()
    assert sys.path == []


def test_modules_that_nobody_can_do_without_are_put_back() -> None:
    before, own = dict(sys.modules), ModuleType("own")
    with remembering():
        sys.modules["own"] = own
        count = r"^it takes \d+ modules out of sys.modules$"
        with pytest.raises(DamageError, match=count), intact():
            sys.modules.clear()
    assert sys.modules == before


def test_another_dictionary_in_the_place_of_the_modules_is_taken_out() -> None:
    before = sys.modules
    with remembering(), intact():
        sys.modules = {}
    assert sys.modules is before


def test_other_modules_may_go() -> None:
    sys.modules["surely_no_library"] = ModuleType("surely_no_library")
    with remembering(), intact():
        del sys.modules["surely_no_library"]
    assert "surely_no_library" not in sys.modules


def test_what_was_not_remembered_is_not_put_back() -> None:
    with intact():
        sys.modules.pop("json.tool", None)
        del sys.modules["json"]
    sys.modules["json"] = json


def test_an_exception_of_the_code_itself_goes_before() -> None:
    with pytest.raises(ZeroDivisionError), intact():
        NAMES["ascii"] = 1 / NAMES.pop("ascii").__doc__.count("surely not in there")
    assert ascii(0) == "0"
