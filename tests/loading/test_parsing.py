from __future__ import annotations

import collections.abc
import functools
import typing
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from sovl_tools.loading.interface import parse_module, sibling_imports
from sovl_tools.model.folder import ToolFolder
from sovl_tools.signature.signature import (
    ANYTHING,
    UNKNOWN,
    Parameter,
    Signature,
    from_function,
)
from tests.schema.strategies import examples, moderate
from tests.tables import check_each

ANNOTATIONS = (
    "str", "int", "float", "bool", "list", "dict", "None", "list[str]", "dict[str, int]",
    "Optional[int]", "typing.Optional[str]", "int | None", "str | int", "Literal['a', 1]",
    "Annotated[int, 'a unit']", "Any", "tuple[int, int]", "Sequence[str]",
    "collections.abc.Mapping[str, int]", "'int'", "'list[str] | None'", "'Unheard'", "'not ['",
)  # fmt: skip
EVERYTHING = {**vars(typing), "typing": typing, "collections": collections, "functools": functools}

names = st.sampled_from(["text", "count", "größe", "flag", "x1"])
scalars = st.none() | st.booleans() | st.integers(-9, 9) | st.floats(-9, 9) | st.text(max_size=3)
literals = st.recursive(
    scalars | st.binary(max_size=2),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.lists(inner, max_size=2).map(tuple)
        | st.dictionaries(st.text(max_size=2), inner, max_size=2)
    ),
    max_leaves=3,
)


@st.composite
def parameter_lists(draw: st.DrawFn) -> str:
    """Return the text between the brackets of a function."""
    chosen = draw(st.lists(names, max_size=5, unique=True))
    slash, star = sorted([draw(st.integers(0, len(chosen))), draw(st.integers(0, len(chosen)))])
    texts, defaulted = [], False
    for index, name in enumerate(chosen):
        annotation = draw(st.just("") | st.sampled_from(ANNOTATIONS).map(": {}".format))
        defaulted = draw(st.booleans()) or (defaulted and index < star)
        default = f" = {draw(literals)!r}" if defaulted else ""
        texts += ["/"] if index == slash > 0 else []
        texts += [draw(st.sampled_from(["*", "*rest", "*rest: int"]))] if index == star else []
        texts.append(f"{name}{annotation}{default}")
    texts += ["*rest"] if star == len(chosen) and draw(st.booleans()) else []
    texts += draw(st.sampled_from([[], ["**more"], ["**more: str"]]))
    return ", ".join(texts)


def executed(source: str) -> dict[str, Any]:
    members = {**EVERYTHING, "__file__": __file__}
    exec(compile(source, "echo.py", "exec", dont_inherit=True), members)
    return members


def assert_alike(source: str) -> None:
    """Hold what parsing says about ``echo`` against what the imported function says.

    What one of the two does not know is omitted.
    """
    live = from_function(executed(source)["echo"])
    parsed = parse_module(source.encode(), "echo").signature
    assert parsed is not None
    assert (parsed.shape, parsed.is_certain) == (live.shape, live.is_certain)
    for one, other in zip(parsed.parameters, live.parameters, strict=True):
        assert (one.name, one.kind, repr(one.default)) == (
            other.name, other.kind, repr(other.default),
        )  # fmt: skip
        assert one.annotation.text == other.annotation.text.strip("'")
        for key in ("optional", "is_context"):
            said, known = getattr(one.annotation, key), getattr(other.annotation, key)
            assert said == known or None in (said, known)


@settings(moderate, max_examples=examples(300))
@given(
    parameter_lists(),
    st.sampled_from(["def echo({}): pass", "async def echo({}): yield 1"]),
    st.sampled_from(["", "from __future__ import annotations\n"]),
)
def test_parsing_says_the_same_as_importing(parameters: str, form: str, future: str) -> None:
    assert_alike(future + form.format(parameters))


WRAPPING = """
def wrapping(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs)
    return wrapper
"""


@check_each(
    "source",
    [
        "echo = lambda text, /, count=1, *, loud=False: text",
        "def _impl(text): pass\necho = _impl",
        "def _impl(text): pass\n_other = _impl\necho = _other",
        "def echo(text): pass\ndef echo(count): pass",
        "echo: object = lambda text: text",
        "try:\n    import absent_library\nexcept ImportError:\n    def echo(text): pass",
        "with open(__file__):\n    def echo(text): pass",
        f"{WRAPPING}@wrapping\ndef echo(text: int = 1): pass",
        "class echo: pass",
        "echo = 5",
        "echo = ['a']",
        "echo = f'{1}'",
    ],
)
def test_what_a_name_is_bound_to_is_found(source: str) -> None:
    assert_alike(source)


def test_handlers_are_known_as_far_as_they_are_named() -> None:
    source = """
from helpers import imported
def greet(step, context): pass
STEP_HANDLERS = {"greet": greet, "far": imported, 1: 5, "call": lambda step: 0, **MORE, f(): greet}
def register_step_handlers(handlers): pass
"""
    interface = parse_module(source.encode(), "echo")
    step, context = Parameter("step"), Parameter("context")
    assert interface.handlers == {
        "greet": Signature((step, context)),
        "far": UNKNOWN,
        1: Signature(shape="value"),
        "call": Signature((step,)),
    }
    assert interface.registration == Signature((Parameter("handlers"),))


@check_each(
    ("statement", "found"),
    [
        ("from .nowhere import name", True),
        ("import os\nfrom .nowhere.inner import name", True),
        ("from .helpers import name", False),
        ("from .package import name", False),
        ("from .compiled import name", False),
        ("from . import nowhere", False),
        ("from ..nowhere import name", True),
        ("def echo():\n    from .nowhere import name", False),
        ("try:\n    from .nowhere import name\nexcept ImportError:\n    pass", False),
        ("__path__.append('x')\nfrom .nowhere import name", False),
    ],
)
def test_a_helper_that_the_folder_lacks_is_found(statement: str, found: bool) -> None:  # noqa: FBT001
    files = frozenset({"echo.py", "echo.json", "helpers.py", "compiled.cpython-311.so"})
    folder = ToolFolder("echo", "tools/echo", "/tools/echo", files, frozenset({"package"}))
    failures = sibling_imports(statement.encode(), folder).missing
    assert [each.error for each in failures] == ["ModuleNotFoundError"] * found


def test_a_name_that_is_deleted_is_not_there() -> None:
    assert parse_module(b"def echo(): ...\ndel echo\n", "echo").signature is None
    again = parse_module(b"def echo(): ...\ndel echo\necho = lambda text: text\n", "echo")
    assert again.signature is not None
    assert parse_module(b"def echo(): ...\nif x:\n    del echo\n", "echo").signature == ANYTHING
