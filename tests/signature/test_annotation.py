from __future__ import annotations

import collections.abc
import enum
import typing
from typing import Any

from sovl_tools.signature.annotation import conventional, from_object, from_text
from tests.tables import check_each


class Color(enum.Enum):
    RED = "red"


NAMES = {**vars(typing), "collections": collections, "typing": typing, "Color": Color}
NAMES.update(AbstractSequence=collections.abc.Sequence)

TABLE = {
    "int": False,
    "list[str]": False,
    "Sequence[int]": False,
    "Optional[int]": True,
    "typing.Optional[str]": True,
    "int | None": True,
    "str | int": False,
    "Optional[Union[int, str]]": True,
    "Literal['a', 1]": False,
    "Optional[Literal['a']]": True,
    "Literal['a', None]": False,
    "Annotated[Optional[int], 'a unit']": True,
    "Optional['int']": True,
    "Union[int, 'None']": True,
    "'int'": False,
    "'Optional[int]'": True,
    "Any": False,
}


def evaluated(source: str) -> Any:
    return eval(source, dict(NAMES))


@check_each("source", TABLE)
def test_an_annotation_is_optional_whether_it_is_an_object_or_text(source: str) -> None:
    assert from_object(evaluated(source)).optional is TABLE[source]
    assert from_text(source, conventional).optional in (TABLE[source], None)
