"""Functions that were defined again."""

from __future__ import annotations

from functools import partial, wraps
from typing import Any

from sovl_tools.reloading.code_tools import is_redefined, text_of
from tests.tables import check_each


def here() -> None: ...


class Owner:
    def method(self) -> None: ...


def again(text: str = "def here(): ...", module: str = __name__) -> Any:
    """Return a function that was defined somewhere else."""
    names: dict[str, Any] = {"__name__": module}
    exec(text, names)
    return names["here"]


@check_each(
    ("function", "text"),
    [
        (here, (__name__, "here")),
        (Owner.method, (__name__, "Owner.method")),
        (Owner().method, (__name__, "Owner.method")),
        (wraps(here)(lambda: None), (__name__, "here")),
        (lambda: None, None),
        (again, (__name__, "again")),
        (partial(here), None),
        (len, None),
        (Owner, None),
    ],
    ids=["function", "method", "bound method", "wrapper", "lambda", "other", "partial", "built-in",
         "class"],
)  # fmt: skip
def test_a_function_has_a_text_if_it_alone_comes_of_it(
    function: Any, text: tuple[str, str] | None
) -> None:
    assert text_of(function) == text


def test_a_function_of_the_same_place_with_other_code_is_the_old_one_rewritten() -> None:
    assert is_redefined(here, again())
    assert is_redefined(again(), again())
    assert not is_redefined(here, here)
    assert not is_redefined(here, wraps(here)(lambda: None))
    assert not is_redefined(here, again(module="elsewhere"))
    assert not is_redefined(again, here)
    assert not is_redefined(lambda: None, lambda: None)
