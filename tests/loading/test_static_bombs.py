"""Modules that represent more than anyone could read: checking them without import ends."""

from __future__ import annotations

from tests.conftest import Run, Write
from tests.tables import check_each

HEAD = "from typing import *\n\n"
END = "\n\ndef bomb(text: A39) -> str:\n    return text\n"


def doubled(first: str, line: str, end: str = END, count: int = 40) -> str:
    """Return a module of lines that each name the line before twice."""
    lines = (line.format(n=number, m=number - 1) for number in range(1, count))
    return "\n".join([HEAD, f"A0 = {first}", *lines, end])


CODES = {
    "tuples": doubled("int", "A{n} = tuple[A{m}, A{m}]"),
    "unions": doubled("int", "A{n} = list[A{m}] | set[A{m}]"),
    "mappings": doubled("str", "A{n} = dict[A{m}, A{m}]"),
    "strings": doubled("str", "A{n} = tuple['A{m}', 'A{m}']"),
    "aliases": doubled("str", "A{n}: TypeAlias = 'tuple[A{m}, A{m}]'"),
    "callables": doubled("str", "A{n} = Callable[[A{m}, A{m}], A{m}]"),
    "Optional": doubled("str", "A{n} = Optional[Union[list[A{m}], tuple[A{m}]]]"),
    "Annotated": doubled("str", "A{n} = tuple[Annotated[A{m}, 1], Annotated[A{m}, 2]]"),
    "NewType": doubled("str", "A{n} = tuple[NewType('B', A{m}), NewType('C', A{m})]"),
    "TypedDict": doubled("str", "class A{n}(TypedDict):\n    a: A{m}\n    b: A{m}"),
    "defaults": doubled("'a'", "A{n} = (A{m}, A{m})", END.replace("text: A39", "text=A39")),
    "formatted": doubled("'a'", "A{n} = f'{{A{m}}}{{A{m}}}'", END.replace(": A39", "=A39")),
    "added": doubled("'a'", "A{n} = A{m} + A{m}", END.replace("text: A39", "text=A39")),
    "Literal": doubled("Literal['a']", "A{n} = Literal[A{m}, A{m}]"),
    "a circle": doubled("'A39'", "A{n} = tuple[A{m}, A{m}, 'A39']"),
    "phrases": doubled("['a']", "A{n} = A{m} + A{m}", "ACTIVATION_PHRASES = A39" + END),
    "a long chain": doubled("int", "A{n} = A{m}", END.replace("39", "4999"), 5_000),
    "many parameters": doubled(
        "int",
        "A{n} = tuple[A{m}, A{m}]",
        f"\n\ndef bomb(text, *, {', '.join(f'a{n}: A39 = 1' for n in range(200))}): return text\n",
    ),
}


@check_each("code", CODES.values(), CODES)
def test_a_module_that_multiplies_is_checked_without_import(
    code: str, write: Write, run: Run
) -> None:
    tools = write("bomb", code=code).parent
    done = run("validate", "--no-import", str(tools))
    assert "1 tool checked" in done.out
    assert "internal error" not in done.out
