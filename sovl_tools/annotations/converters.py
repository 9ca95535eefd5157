"""Converters of the parameters of a function.

What is of an annotated type already stays as it is, and so does what is annotated as anything that
no kind of type is. Where something is made, its parts must be of their own annotated types:
``tuple[int, int]`` refuses ``["a", 1]``.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from sovl_tools.annotations.fields import tolerant_meaning
from sovl_tools.annotations.hints import names_of
from sovl_tools.annotations.kind import Convert, UnfitError, same
from sovl_tools.annotations.kinds import kind_of
from sovl_tools.annotations.plain import is_plain
from sovl_tools.annotations.unions import defaulting


def keyword_converter(
    function: Any, annotations: Mapping[str, Any], named: frozenset[str], rest: str | None
) -> Convert | None:
    """Return what converts the keywords of a function; None if all of them stay as they are.

    Args:
        function: whose names the texts of annotations use.
        annotations: those of parameters that are not plainly JSON.
        named: the parameters that are given by their names.
        rest: the parameter that takes any other keyword, if there is one.
    """
    builder, names = Converters(), names_of(function)
    hints = {name: tolerant_meaning(each, names, {}) for name, each in annotations.items()}
    found = {
        name: defaulting(builder.build(hint), _default(function, name))
        for name, hint in hints.items()
        if not is_plain(hint)
    }
    found = {name: convert for name, convert in found.items() if convert is not same}
    others = found.pop(rest, None) if rest is not None and rest not in named else None
    if not found and others is None:
        return None

    def conversion(keywords: dict[str, Any]) -> dict[str, Any]:
        made, problems = {**keywords}, []
        rest = [] if others is None else [(name, others) for name in keywords if name not in named]
        for name, convert in (*found.items(), *rest):
            if name in made:
                try:
                    made[name] = convert(made[name])
                except UnfitError as error:
                    problems += error.below(name)
                except RecursionError:
                    problems.append(((name,), "is nested too deep"))
        if problems:
            raise UnfitError(problems)
        return made

    return conversion


class Converters:
    """Makes converters for the parameters of one function; each class is looked at once."""

    def __init__(self) -> None:
        self._shared: dict[Any, Convert] = {}

    def build(self, annotation: Any) -> Convert:
        """Return the converter of an annotation; one that is not understood asks for nothing."""
        try:
            kind = kind_of(annotation)
            if not kind.is_shared:
                return kind.convert(self.build, annotation)
            if annotation not in self._shared:
                self._shared[annotation] = kind.convert(self.build, annotation)
            return self._shared[annotation]
        except Exception:  # noqa: BLE001 - an annotation may be anything, and its library as well
            return same


def _default(function: Any, name: str) -> Any:
    try:
        return inspect.signature(function).parameters[name].default
    except (ValueError, TypeError, KeyError):
        return inspect.Parameter.empty
