from __future__ import annotations

import collections.abc
import enum
import sys
import typing
from typing import Annotated, Any, NewType, Optional, TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sovl_tools.signature.annotation import conventional, from_object, from_text
from tests.schema.strategies import moderate


class Color(enum.Enum):
    RED = "red"


NAMES = {**vars(typing), "collections": collections, "typing": typing, "Color": Color}
NAMES.update(AbstractSequence=collections.abc.Sequence)

TABLE = {
    "str": ("string", False),
    "int": ("integer", False),
    "float": ("integer number", False),
    "bool": ("boolean", False),
    "list": ("array", False),
    "dict": ("object", False),
    "None": ("null", False),
    "list[str]": ("array", False),
    "dict[str, int]": ("object", False),
    "List": ("array", False),
    "List[str]": ("array", False),
    "Dict[str, Any]": ("object", False),
    "Sequence[int]": ("array", False),
    "Mapping[str, int]": ("object", False),
    "collections.abc.Sequence[int]": ("array", False),
    "collections.abc.Mapping": ("object", False),
    "typing.List[int]": ("array", False),
    "Optional[int]": ("integer null", True),
    "typing.Optional[str]": ("string null", True),
    "int | None": ("integer null", True),
    "None | int": ("integer null", True),
    "str | int": ("integer string", False),
    "Union[str, int]": ("integer string", False),
    "Union[str, None]": ("string null", True),
    "Optional[Union[int, str]]": ("integer null string", True),
    "list[str] | None": ("array null", True),
    "Literal['a', 'b']": ("string", False),
    "Literal['a', 1]": ("integer string", False),
    "Optional[Literal['a']]": ("null string", True),
    "Literal['a', None]": ("null string", False),
    "Annotated[int, 'a unit']": ("integer", False),
    "Annotated[Optional[int], 'a unit']": ("integer null", True),
    "Annotated[int, {'unit': 'm'}]": ("integer", False),
    "Optional['int']": ("integer null", True),
    "Annotated['int', 'a unit']": ("integer", False),
    "'int'": ("integer", False),
    "'Optional[int]'": ("integer null", True),
    "Any": (None, False),
    "Optional[Any]": (None, True),
    "object": (None, False),
    "tuple[int, int]": (None, False),
    "set[str]": (None, False),
    "bytes": (None, False),
    "Callable[[int], str]": (None, False),
    "Literal[Color.RED]": (None, False),
    "Color": (None, False),
    "Color | None": (None, True),
    "5": (None, False),
    "[]": (None, False),
    "{'a': 1}": (None, False),
}

each_annotation = pytest.mark.parametrize("source", TABLE)


def evaluated(source: str) -> Any:
    return eval(source, dict(NAMES))


def expected(source: str) -> tuple[frozenset[str] | None, bool]:
    names, optional = TABLE[source]
    return None if names is None else frozenset(names.split()), optional


@each_annotation
def test_an_annotation_admits_types_whoever_reads_its_text(source: str) -> None:
    found = from_text(source, conventional)
    types, optional = expected(source)
    assert found.types == types
    assert found.optional in ({optional} if types else {optional, None})


@each_annotation
def test_an_annotation_admits_types_whoever_reads_its_object(source: str) -> None:
    found = from_object(evaluated(source))
    assert (found.types, found.optional) == expected(source)


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("int", "int"),
        ("None", "None"),
        ("list[str]", "list[str]"),
        ("typing.List[int]", "List[int]"),
        ("collections.abc.Sequence[int]", "Sequence[int]"),
        ("typing.Optional[int]", "Optional[int]"),
        ("int | None", "int | None"),
        ("Literal['a', 1]", "Literal['a', 1]"),
        ("Annotated[int, 'a unit']", "Annotated[int, 'a unit']"),
        ("dict[str, Any]", "dict[str, Any]"),
        ("'int'", "int"),
    ],
)
def test_an_annotation_is_shown_as_its_author_wrote_it(source: str, text: str) -> None:
    assert from_text(source, conventional).text == text
    assert from_object(evaluated(source)).text == text


@moderate
@given(st.text("abc[]|'\"(,.: \n\0", max_size=12))
def test_a_text_that_is_no_annotation_says_nothing(text: str) -> None:
    found = from_object(text)
    assert found.types is None or found.types


def test_what_an_annotation_stands_for_may_be_optional(monkeypatch: pytest.MonkeyPatch) -> None:
    extensions = pytest.importorskip("typing_extensions")
    item = TypeVar("item")
    alias = extensions.TypeAliasType
    maybe = alias("maybe", Optional[item], type_params=(item,))  # noqa: UP045 - as it is written
    bound = TypeVar("bound", bound=Optional[int])  # noqa: UP045 - likewise
    name = NewType("name", Optional[int])  # type: ignore[valid-newtype]  # noqa: UP045 - likewise
    later = alias("later", "int | None")
    for annotation in (maybe, maybe[int], bound, name, later, Annotated[later, "a word"]):
        assert from_object(annotation).optional is True
    endless = alias("endless", "endless")
    monkeypatch.setitem(vars(sys.modules[__name__]), "endless", endless)
    for annotation in (alias("lost", "Nowhere"), endless):
        assert from_object(annotation).optional is None
    assert from_object(item).optional is False
