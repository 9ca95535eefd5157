"""Expressions that choose tests by words of their names, as pytest's ``-k`` has them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeAlias

Matcher: TypeAlias = Callable[[str], bool]

_TOKEN = re.compile(r"[()]|[^\s()]+")
_WORDS = {"and", "or", "not", "(", ")"}
_MOST_TOKENS = 200


def matcher_of(expression: str) -> Matcher:
    """Return what tells whether a text fits ``echo and not (slow or "[1]")``, without case.

    Raises:
        ValueError: it is no expression; the message says what is missing.
    """
    tokens = _TOKEN.findall(expression)
    if len(tokens) > _MOST_TOKENS:  # each may be a level of recursion
        raise ValueError(f"more than {_MOST_TOKENS} words")
    rest = tokens[::-1]
    matcher = _any(rest)
    if rest:
        raise ValueError(f"{rest[-1]!r} is one too many")
    return matcher


def _any(rest: list[str]) -> Matcher:
    found = _operands(rest, "or", _all)
    return lambda text: any(each(text) for each in found)


def _all(rest: list[str]) -> Matcher:
    found = _operands(rest, "and", _one)
    return lambda text: all(each(text) for each in found)


def _operands(rest: list[str], word: str, read: Callable[[list[str]], Matcher]) -> list[Matcher]:
    found = [read(rest)]
    while rest[-1:] == [word]:
        rest.pop()
        found.append(read(rest))
    return found


def _one(rest: list[str]) -> Matcher:
    token = rest.pop() if rest else None
    if token == "not":  # noqa: S105 - a word of an expression
        inner = _one(rest)
        return lambda text: not inner(text)
    if token == "(":  # noqa: S105 - as above
        inner = _any(rest)
        if not rest or rest.pop() != ")":
            raise ValueError("a ')' is missing")
        return inner
    if token is None or token in _WORDS:
        raise ValueError(f"a word is missing{f' before {token!r}' if token else ' at the end'}")
    word = token.casefold()
    return lambda text: word in text.casefold()
