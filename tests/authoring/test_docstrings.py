"""What docstrings say, in each of the usual styles."""

from __future__ import annotations

import re
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from sovl_tools.annotations.docstrings import (
    Documentation,
    class_documentation,
    documentation_in,
    documentation_of,
)
from tests.schema.strategies import moderate
from tests.tables import check_each


def google(city: str, days: int, *rest: str) -> None:
    """Tell the weather.

    It is guessed
    from the season.

    Args:
        city (str): Where, as people
            call it.
        days, hours (int, optional): How far ahead.
        *rest: More.

    Returns:
        dict: What to wear.

    Raises:
        ValueError: There's no such city.
    """


def numpy(city: str) -> None:
    """Tell the weather.

    It is guessed
    from the season.

    Parameters
    ----------
    city : str
        Where, as people
        call it.
    days, hours : int, optional
        How far ahead.
    *rest : str
        More.
    silent : bool

    Returns
    -------
    clothes : dict
        What to wear.

    Notes
    -----
    Never mind.
    """


def sphinx(city: str) -> None:
    """Tell the weather.

    It is guessed
    from the season.

    :param str city: Where, as people
        call it.
    :param days, hours: How far ahead.
    :param rest: More.
    :type days: int
    :returns: What to wear.
    :raises ValueError: There's no such city.
    """


def epydoc(city: str) -> None:
    """Tell the weather.

    It is guessed
    from the season.

    @param city: Where, as people
        call it.
    @param days: How far ahead.
    @param hours: How far ahead.
    @param rest: More.
    @return: What to wear.
    """


@check_each("function", [google, numpy, sphinx, epydoc])
def test_a_docstring_of_any_style_says_the_same(function: Any) -> None:
    assert documentation_of(function) == Documentation(
        "Tell the weather.\n\nIt is guessed\nfrom the season.",
        {
            "city": "Where, as people\ncall it.",
            "days": "How far ahead.",
            "hours": "How far ahead.",
            "rest": "More.",
        },
        "What to wear.",
    )


class Base:
    def method(self) -> None:
        """Do it.

        Returns:
            The result.
        """


class Derived(Base):
    def method(self) -> None: ...


def test_a_method_has_the_docstring_that_it_inherits() -> None:
    inherited = Documentation("Do it.", {}, "The result.")
    assert documentation_of(Derived.method) == documentation_of(Derived().method) == inherited


PLAIN = [
    "",
    "A summary\nof two lines.",
    "A summary.\n\nMore: much more.\n\n- a\n- b",
    "Tell what :class:`Thing` is.",
    "A heading\n---\nthat is short.",
]


@check_each("text", PLAIN)
def test_a_docstring_without_sections_is_the_description(text: str) -> None:
    assert documentation_in(text) == Documentation(text)


ODD: list[tuple[str, Documentation]] = [
    ("Do it.\n\nArgs:\n    None\n\nReturns:\n    It.", Documentation("Do it.", {}, "It.")),
    ("Args:\n    a: What.", Documentation("", {"a": "What."})),
    ("Do it.\n\nNote:\n    Well.\n\nArgs:\n    a: What.",
     Documentation("Do it.\n\nNote:\n    Well.", {"a": "What."})),
    ("Do it.\n\n:class:`A` is it.", Documentation("Do it.\n\n:class:`A` is it.")),
    ("Do it.\n\n@wraps: it", Documentation("Do it.\n\n@wraps: it")),
    ("Do it.\n\nReturns\n-------\ndict", Documentation("Do it.")),
    ("Do it.\n\nReturns:\n    A: dict", Documentation("Do it.", {}, "dict")),
]  # fmt: skip


@check_each(("text", "documentation"), ODD)
def test_odd_docstrings_lose_as_little_as_can_be(text: str, documentation: Documentation) -> None:
    assert documentation_in(text) == documentation


BOTH = Documentation("Do it.", {"a": "One.", "b": "Two."})
FORMS = [
    ("Do it.\n\nArgs:\n    a: One.\n    b: Two.", BOTH),
    ("Do it.\n\nArgs:\na: One.\nb: Two.", BOTH),
    ("Do it.\n\nargs:\n    a: One.\n    b: Two.", BOTH),
    ("Do it.\n\nArgs:\n    - a: One.\n    - b (int): Two.", BOTH),
    ("Do it.\n\nArgs:\n    a (int) - One.\n    b - Two.", BOTH),
    ("Do it.\n\nArgs:\n    a (:obj:`list`): One.\n    b (Callable[[int], int]): Two.", BOTH),
    ("Do it.\n\nParameters:\n-----------\na : int\n    One.\nb : int\n    Two.", BOTH),
    ("Do it.\n\n:param list of str a: One.\n:param b: Two.", BOTH),
    ("Do it.\n\nArgs:\n    a: One.\n    This is odd\n    b: Two.",
     Documentation("Do it.\n\nThis is odd", {"a": "One.", "b": "Two."})),
    ("Do it.\n\nArgs:\n    Whatever the server takes.",
     Documentation("Do it.\n\nWhatever the server takes.")),
]  # fmt: skip


@check_each(("text", "documentation"), FORMS)
def test_people_write_lists_of_parameters_in_many_forms(
    text: str, documentation: Documentation
) -> None:
    assert documentation_in(text) == documentation


lines = st.sampled_from(
    [
        "", "", "Args:", "Returns:", "Raises:", "Example:", "Parameters", "----------", "Returns",
        "-------", ":param a: What.", ":param", ":returns: It.", ":", "@param a: What.", "@x",
        "    a: What.", "    a (int): What.", "    None", "a : int", "    What.", "Words.",
        ".. deprecated:: 1.0", "\t:a", "    ", "(", "Attributes:", "Yields:", "    b, c: Both.",
    ]
)  # fmt: skip


SECTION = re.compile(
    r"^(Args|Returns|Raises|Example|Attributes|Yields):\s*$|^(Parameters|Returns)\s*\n----|^\.\.",
    re.MULTILINE,
)
"""The heads of sections that leave the description, also when nothing is in them."""


@moderate
@given(st.lists(lines, max_size=8).map("\n".join) | st.text(max_size=30))
def test_whatever_a_docstring_says_it_is_read(text: str) -> None:
    found = documentation_in(text)
    assert isinstance(found.description, str)
    assert all(found.parameters.values())
    assert found.returns is None or found.returns
    if not (found.parameters or found.returns or SECTION.search(text)):
        assert "".join(found.description.split()) == "".join(text.split())


class Grand:
    """A grand thing.

    Attributes:
        size: How large.
        name: How it is called.
    """


class Thing(Grand):
    """A thing.

    Attributes:
        name: What people say.
    """


class Bare(Thing):
    pass


def test_a_class_says_what_its_fields_are_and_so_do_its_bases() -> None:
    fields = {"size": "How large.", "name": "What people say."}
    assert class_documentation(Thing) == Documentation("A thing.", fields)
    assert class_documentation(Bare) == Documentation("", fields)
