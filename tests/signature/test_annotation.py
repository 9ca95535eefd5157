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
from tests.tables import check_each


class Color(enum.Enum):
    RED = "red"


NAMES = {**vars(typing), "collections": collections, "typing": typing, "Color": Color}
NAMES.update(AbstractSequence=collections.abc.Sequence)

TABLE = {
    "int": False,
    "None": False,
    "list[str]": False,
    "Sequence[int]": False,
    "collections.abc.Mapping": False,
    "Optional[int]": True,
    "typing.Optional[str]": True,
    "int | None": True,
    "None | int": True,
    "str | int": False,
    "Union[str, None]": True,
    "Optional[Union[int, str]]": True,
    "list[str] | None": True,
    "Literal['a', 1]": False,
    "Optional[Literal['a']]": True,
    "Literal['a', None]": False,
    "Annotated[int, 'a unit']": False,
    "Annotated[Optional[int], 'a unit']": True,
    "Annotated[int, {'unit': 'm'}]": False,
    "Optional['int']": True,
    "Union[int, 'None']": True,
    "'int'": False,
    "'Optional[int]'": True,
    "Any": False,
    "Optional[Any]": True,
    "tuple[int, int]": False,
    "Callable[[int], str]": False,
    "Literal[Color.RED]": False,
    "Color": False,
    "Color | None": True,
    "5": False,
    "[]": False,
    "{'a': 1}": False,
}


def evaluated(source: str) -> Any:
    return eval(source, dict(NAMES))


@check_each("source", TABLE)
def test_an_annotation_is_optional_whether_it_is_an_object_or_text(source: str) -> None:
    assert from_object(evaluated(source)).optional is TABLE[source]
    assert from_text(source, conventional).optional in (TABLE[source], None)


def test_what_the_text_alone_does_not_tell_is_unknown() -> None:
    for source in ("Color", "Color | int", "Annotated[Color, 'x']", "list["):
        assert from_text(source, conventional).optional is None
    assert from_text("Color | None", conventional).optional is True


@check_each(
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
    assert not from_object(text).is_context


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
