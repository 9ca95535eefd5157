"""Tables of cases that a single test goes through.

A test costs pytest milliseconds before and after it, in each process that collects it: what is
checked in microseconds, a hundred times alike, is one test with a table.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from reprlib import repr as short
from typing import Any

from _pytest.mark import ParameterSet

Test = Callable[..., Any]


def check_each(
    names: str | Sequence[str],
    rows: Iterable[Any],
    ids: Iterable[Any] | Callable[[Any], Any] | None = None,
) -> Callable[[Test], Test]:
    """Run a test with each row; takes what ``pytest.mark.parametrize`` does.

    All rows are checked, and a failure names those that fail. They share the fixtures of the test,
    so this is for tests that leave these as they are.
    """
    columns = [each.strip() for each in names.split(",")] if isinstance(names, str) else [*names]
    table = [*_table(columns, [*rows], ids)]
    assert table, "nothing would be checked"

    def decorate(test: Test) -> Test:
        @wraps(test)
        def check(*arguments: Any, **known: Any) -> None:
            __tracebackhide__ = True
            failures: list[Exception] = []
            for name, values in table:
                with _noted(name, failures):
                    test(*arguments, **known, **values)
            _fail(failures)

        @wraps(test)
        async def check_async(*arguments: Any, **known: Any) -> None:
            __tracebackhide__ = True
            failures: list[Exception] = []
            for name, values in table:
                with _noted(name, failures):
                    await test(*arguments, **known, **values)
            _fail(failures)

        found: Any = check_async if inspect.iscoroutinefunction(test) else check
        signature = inspect.signature(test)
        assert signature.parameters.keys() >= {*columns}
        others = [each for each in signature.parameters.values() if each.name not in columns]
        found.__signature__ = signature.replace(parameters=others)
        return found  # type: ignore[no-any-return] # a function with a signature of its own

    return decorate


def _table(
    columns: Sequence[str], rows: Sequence[Any], ids: Iterable[Any] | Callable[[Any], Any] | None
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the name and the arguments of each row."""
    known = [None] * len(rows) if ids is None or callable(ids) else [*ids]
    for row, given in zip(rows, known, strict=True):
        name = given
        if isinstance(row, ParameterSet):
            assert not row.marks, "a row has no marks of its own"
            values, name = row.values, row.id
        else:
            values = (row,) if len(columns) == 1 else row
        arguments = dict(zip(columns, values, strict=True))
        if name is None:
            shown = ids if callable(ids) else short
            name = ", ".join(f"{column}={shown(value)}" for column, value in arguments.items())
        yield str(name), arguments


@contextmanager
def _noted(name: str, failures: list[Exception]) -> Iterator[None]:
    try:
        yield
    except Exception as error:  # noqa: BLE001 - the other rows are checked all the same
        error.add_note(f"in the row {name}")
        failures.append(error)


def _fail(failures: list[Exception]) -> None:
    __tracebackhide__ = True
    if len(failures) == 1:
        raise failures[0]
    if failures:
        raise ExceptionGroup(f"{len(failures)} rows fail", failures)
