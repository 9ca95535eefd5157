"""ST4xx: the values that a manifest accepts, against the function's values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sovl_tools.loading.rules.agreement_case import AgreementCase, argument_of, excludes
from sovl_tools.model.diagnostic import (
    Finding,
    ManifestPlace,
    ModulePlace,
    Place,
    rule,
)
from sovl_tools.model.suggestion import one_of
from sovl_tools.schema.engine import problems_at
from sovl_tools.schema.problem import shown
from sovl_tools.schema.subschemas import SchemaNode
from sovl_tools.signature.agreement import (
    Difference,
)


@rule("ST407", "warning")
def default_mismatch(case: AgreementCase) -> Iterator[Finding]:
    """The function's default is not the manifest's.

    The manifest's is filled in, so the function's is never used: the code differs from its
    says. Make them equal, or leave the manifest's out. A default of None next to another in the
    manifest is taken as "not given" and skipped.
    """
    for each in case.of("default"):
        if _fits(case, each):
            message = (
                f"{each.name!r} is {each.own!r:.60} by default, {shown(each.said)} in the manifest"
            )
            yield Finding(case.place(each), message, "make them equal")


def _fits(case: AgreementCase, difference: Difference) -> bool:
    """Return whether the manifest's default is filled in at all; see ST310."""
    path, schema = difference.path[1:-1], case.parameters
    for key in path:
        schema = schema[key]  # type: ignore[index]  # a path may lead through lists
    return not problems_at(SchemaNode(path, schema, case.parameters, ()), difference.said)


@rule("ST408", "warning")
def annotation_mismatch(case: AgreementCase) -> Iterator[Finding]:
    """A parameter's annotation and the type of its property exclude each other.

    One of the two is wrong: a function that expects ``int`` would get a string. So it is if the
    manifest admits values that the annotation does not: a number for an ``int``, a value that is
    not in the ``Enum``, a member that the dataclass lacks, and likewise within lists, objects,
    alternatives and the target of a ``$ref``; an annotation's open parts aren't compared. Parts
    that the manifest omits, such as a format or members that are required, count
    where a call would reject the argument, and so does null next to other types: ``sovl-tools
    sync`` adds most of them. Where the manifest names outright a value that a call rejects, see
    ST412.
    """
    for each in case.differences:
        # it can be meant, where the function checks the value itself
        is_passed_on = each.kind in {"omitted", "null"} and argument_of(each) not in case.converted
        words = None if case.is_refused(each) or is_passed_on else _contradiction(case, each)
        if words is not None:
            message, advice = words
            place: Place = _place_in_manifest(each)
            if _excludes_annotation(case, each):
                place = ModulePlace(case.name, each.name)
            yield Finding(place, message, advice)


def _excludes_annotation(case: AgreementCase, each: Difference) -> bool:
    """Return whether no value of the property can be of the parameter's annotated type."""
    return each.kind == "types" and bool(case.annotations.get(each.name)) and excludes(each)


def _place_in_manifest(each: Difference) -> ManifestPlace:
    return ManifestPlace(each.path, "key" if each.kind == "superfluous" else "value")


def _listed(types: Iterable[str]) -> str:
    return one_of(map(repr, types))


PRUNE = "or remove it: sovl-tools sync --prune"


_BY_HAND = {"type", "additionalProperties"}


def _contradiction(of: AgreementCase, each: Difference) -> tuple[str, str] | None:
    """Return the words and the advice for a difference in values; None for any other."""
    match each.kind:
        case "types" if _excludes_annotation(of, each):
            text = of.annotations[each.name]
            message = f"{each.name!r} is annotated {text}, but its type is {_listed(each.said)}"
            advice = "make them agree"
        case "types":
            said, own = _listed(each.said), _listed(each.own)
            message = f"{each.name!r} is {said} in the manifest, but the function takes {own}"
            advice = f"write {own} in the manifest, or change the annotation"
        case "alternative":
            message = f"{each.name!r} is here none of the alternatives that the function takes"
            advice = f"write {_listed(each.own)} in the manifest, or change the annotation"
        case "value":
            message = f"{shown(each.said)} isn't a value that the function takes for {each.name!r}"
            known = one_of(map(shown, each.own)) if each.own else ""
            advice = f"the function takes {known}; add it there, {PRUNE}"
            advice = advice if known else "correct it, or omit it"
        case "bounds":
            keyword, (other, bound) = each.path[-1], each.own
            message = f"{each.name!r} has the {keyword} {shown(each.said)}, but {other}"
            message, advice = f"{message} {shown(bound)} to the function", "make them agree"
        case "superfluous":
            message = f"{f'{each.name}.{each.said}'!r} is not taken by the function"
            advice = f"add it there, {PRUNE}"
        case "missing":
            whole = f"{each.name}.{each.own}"
            message = f"the function needs {whole!r}, which the manifest lacks"
            advice = "require it; if others share the definition, give this place its own"
        case "omitted":
            keyword, limit = each.own
            message = f"the function takes {each.name!r} only with {keyword!r}: {shown(limit)}"
            advice = "write that in the manifest: sovl-tools sync"
            advice = "write that in the manifest" if keyword in _BY_HAND else advice
        case "null":
            message = f"{each.name!r} can be null in the manifest, but the function rejects that"
            advice = f"admit only {_listed(each.own)}, or add '| None' to the annotation"
        case _:
            return None
    return message, advice


@rule("ST412")
def refused_values(case: AgreementCase) -> Iterator[Finding]:
    """The manifest names values that the function's annotation rejects at each call.

    Arguments become instances of ``date``, ``Enum``, dataclasses and the like before the function
    runs, and what doesn't match is rejected: a number for a ``date``, a value that the ``Enum``
    lacks, or that isn't a date, a bound that contradicts the function's, a member that the
    dataclass lacks, or an object that can't have one that it needs. A model follows the manifest
    and is rejected. The help names the parameter's line; make the two agree.
    """
    for each in case.differences:
        words = _contradiction(case, each) if case.is_refused(each) else None
        if words is not None:
            other = ModulePlace(case.name, argument_of(each))
            yield Finding(_place_in_manifest(each), *words, other)
