"""Why an expression has no value, in one sentence."""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType
from typing import Any, NamedTuple

from jinja2 import Template
from jinja2.utils import missing

from sovl_tools.model.document import JSON, dotted
from sovl_tools.model.suggestion import did_you_mean
from sovl_tools.procedures.language import EvaluationError, Reference
from sovl_tools.procedures.plain import article
from sovl_tools.procedures.sandbox import AbsentError


class Site(NamedTuple):
    """Where an expression is evaluated.

    Attributes:
        references: the variables that its template reads.
        offset: where it begins; None for a template with any number of them.
    """

    references: tuple[Reference, ...]
    offset: int | None = None


def failure(error: Exception, site: Site, variables: Mapping[str, JSON]) -> EvaluationError:
    """Return what is wrong, and where, for what came out of a template."""
    offset = _offset(error.__traceback__)
    if offset is None:
        offset = site.offset
    if isinstance(error, EvaluationError):
        return EvaluationError(error.message, offset, error.name, advice=error.help)
    if not isinstance(error, AbsentError) or error.hint is not None:
        return EvaluationError(_said(error), offset)
    if error.within is missing:
        return _no_variable(error.name, site, variables, offset)
    return _no_member(error, _owner(error, site, variables), offset)


def _offset(traceback: TracebackType | None) -> int | None:
    """Return where in a template an error came up, innermost; None if in none."""
    found = None
    while traceback is not None:
        template = traceback.tb_frame.f_globals.get("__jinja_template__")
        if isinstance(template, Template):
            found = template.get_corresponding_lineno(traceback.tb_lineno) - 1
        traceback = traceback.tb_next
    return found


def _no_variable(
    name: str, site: Site, variables: Mapping[str, JSON], offset: int | None
) -> EvaluationError:
    reads = (each for each in site.references if each.name == name and not each.is_guarded)
    at = next((each.offset for each in reads), offset)
    advice = did_you_mean(name, variables)
    return EvaluationError(f"there is no variable {name!r}", at, name, advice=advice)


def _no_member(error: AbsentError, owner: Reference | None, offset: int | None) -> EvaluationError:
    name, within = error.name, error.within
    what = article(within)
    if isinstance(within, list):
        what = f"{what} of length {len(within)}"
    if owner is not None:
        offset = owner.offset
        what = f"{dotted((owner.name, *owner.attributes))!r} is {what} and"
    member = f"item {name}" if isinstance(name, int) else repr(name)
    return EvaluationError(f"{what} has no {member}", offset, name, advice=_advice(within, name))


def _advice(within: Any, name: Any) -> str | None:
    if not isinstance(name, str):
        return None
    if not name.startswith("_") and callable(getattr(within, name, None)):
        return f"call it: {name}()"
    return did_you_mean(name, within) if isinstance(within, dict) else None


def _owner(error: AbsentError, site: Site, variables: Mapping[str, JSON]) -> Reference | None:
    """Return how people write the value that lacks something; None if it has no name."""
    for reference in site.references:
        value: Any = variables.get(reference.name)
        for index, part in enumerate(reference.attributes):
            if part == error.name and value is error.within:
                return reference._replace(attributes=reference.attributes[:index])
            try:
                value = value[part]
            except (LookupError, TypeError):
                break
    return None


def _said(error: Exception) -> str:
    if type(error) in _KNOWN:
        return _KNOWN[type(error)]
    said = str(error).removeprefix("do_")
    return f"{said[:1].lower()}{said[1:]}".removesuffix(".") or type(error).__name__


_KNOWN: Mapping[type[Exception], str] = {
    MemoryError: "there is not enough memory for the result",
    OverflowError: "the result is too large",
    RecursionError: "values are nested too deep",
    ZeroDivisionError: "division by zero",
}
