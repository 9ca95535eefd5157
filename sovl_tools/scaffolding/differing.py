"""What is not the same in a manifest and its function, and has to be mended by hand."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from sovl_tools.loading.checks import agreement
from sovl_tools.loading.checks.schema import default_on_required
from sovl_tools.model.diagnostic import Finding, ManifestPlace, Rule, Verdict, ask
from sovl_tools.model.document import JSON, Path
from sovl_tools.scaffolding.alternatives import (
    Matcher,
    exclude_each_other,
    is_wider,
    kinds,
    target_of,
    values_of,
)
from sovl_tools.scaffolding.mending import (
    canonical,
    contradictions,
    unknown_properties,
    unknown_values,
)
from sovl_tools.scaffolding.pairing import Pair, pairs
from sovl_tools.validation.wording import one_of, shown

PRUNE = "or remove it: sovl-tools sync --prune"


class _Case(NamedTuple):
    """A pair, and the function's whole schema."""

    pair: Pair
    root: dict[str, JSON]

    @property
    def schema(self) -> dict[str, JSON]:
        """What the manifest says."""
        return self.pair.node.schema

    def found(
        self, rule: Rule, where: Path, message: str, *, advice: str, of_key: bool = False
    ) -> Verdict:
        """Return what a rule says of a place within the pair."""
        place = ManifestPlace((*self.pair.node.path, *where), "key" if of_key else "value")
        return Verdict(rule, Finding(place, message, advice))


def differences(parameters: dict[str, JSON], own: dict[str, JSON]) -> Iterator[Verdict]:
    """Yield what differs below the properties, once the manifest is mended.

    Args:
        parameters: the manifest's schema.
        own: the function's, with its definitions under the manifest's names.
    """
    for pair in pairs(parameters, own):
        case = _Case(pair, own)
        if pair.node.is_property and not pair.is_part:
            yield from _defaults(case)
        if "$ref" not in pair.node.schema:
            mistyped = [*_types(case)]
            yield from mistyped
            for ask_for in () if mistyped else _QUESTIONS:
                yield from ask_for(case)


def _defaults(case: _Case) -> Iterator[Verdict]:
    schema, own = case.schema, case.pair.own
    if "default" not in schema:
        return
    if "default" not in own:
        yield from ask((default_on_required,), case.pair.node)
    elif own["default"] is not None and _differ(own["default"], schema["default"]):
        ours, theirs = shown(own["default"]), shown(schema["default"])
        message = f"{case.pair.name!r} is {ours} by default, {theirs} in the manifest"
        yield case.found(agreement.default_differs, ("default",), message, advice="make them equal")


def _differ(own: JSON, manifest: JSON) -> bool:
    """Compare as JSON does: 1 is not true, but 1.0 is 1."""
    return own != manifest or isinstance(own, bool) != isinstance(manifest, bool)


def _types(case: _Case) -> Iterator[Verdict]:
    """Yield where the manifest admits values of types that the function does not take."""
    node, own, name = case.pair.node, case.pair.own, case.pair.name
    strange = [*_strange(case)]
    for where in strange:
        message = f"{name!r} is here none of the alternatives that the function takes"
        yield _mistyped(case, where, message)
    if not strange and is_wider(kinds(node.schema, node.root), kinds(own, case.root)):
        said, types = _types_of(node.schema, node.root), _types_of(own, case.root)
        message = f"{name!r} is {said} in the manifest, but the function takes {types}"
        yield _mistyped(case, ("type",) if "type" in node.schema else (), message)


def _strange(case: _Case) -> Iterator[Path]:
    """Yield where alternatives stand that are none of the function's."""
    schema, own = case.schema, case.pair.own
    key = next((key for key in ("anyOf", "oneOf") if key in schema), None)
    if key is None and "anyOf" not in own:
        return
    matches = Matcher(case.pair.node.root, case.root).matches(schema, own)
    for index, match in enumerate(matches):
        if match.own is None and _is_strange(match.schema, case):
            yield (key, index) if key else ()


def _is_strange(schema: JSON, case: _Case) -> bool:
    """Tell whether an alternative is surely none of the function's."""
    ours, theirs = kinds(schema, case.pair.node.root), kinds(case.pair.own, case.root)
    if ours is None or theirs is None or ours == {"null"}:
        return False
    target = target_of(schema, case.pair.node.root)
    return exclude_each_other(ours, theirs) or "properties" in target


def _mistyped(case: _Case, where: Path, message: str) -> Verdict:
    types = _types_of(case.pair.own, case.root)
    advice = f"write {types} in the manifest, or change the annotation"
    return case.found(agreement.annotation_contradicts, where, message, advice=advice)


def _types_of(own: dict[str, JSON], root: dict[str, JSON]) -> str:
    """Return the JSON types that a function takes, as people list them."""
    own = target_of(own, root)
    said = own.get("type", ())
    names = sorted([said] if isinstance(said, str) else said)
    return one_of(map(repr, names or sorted(kinds(own, root) or ())))


def _properties(case: _Case) -> Iterator[Verdict]:
    schema, required = case.schema, case.schema.get("required", ())
    for name in unknown_properties(schema, case.pair.own):
        rule = agreement.optional_not_taken
        if name in required:
            rule = agreement.required_not_taken
        message = f"{_whole(case, name)} is not taken by the function"
        where = ("properties", name)
        yield case.found(rule, where, message, advice=f"add it there, {PRUNE}", of_key=True)


def _missing(case: _Case) -> Iterator[Verdict]:
    """Yield what could not be added, because others share the definition."""
    known = {*case.schema.get("properties", ())} & {*case.schema.get("required", ())}
    for name in case.pair.own.get("required", ()) if "properties" in case.schema else ():
        if name not in known:
            message = f"the function needs {_whole(case, name)}, which the manifest lacks"
            advice = "require it; if others share the definition, give this place its own"
            yield case.found(agreement.parameter_not_sent, (), message, advice=advice)


def _whole(case: _Case, name: str) -> str:
    return repr(f"{case.pair.name}.{name}")


def _values(case: _Case) -> Iterator[Verdict]:
    values, own = values_of(case.schema), case.pair.own
    unknown = {canonical(each) for each in unknown_values(values or [], own)}
    for index, value in enumerate(values or ()):
        if canonical(value) in unknown:
            words = one_of(shown(each) for each in values_of(own) or (None,))
            message = f"{shown(value)} is no value that the function takes for {case.pair.name!r}"
            where: Path = ("const",) if "const" in case.schema else ("enum", index)
            advice = f"the function takes {words}; add it there, {PRUNE}"
            yield case.found(agreement.annotation_contradicts, where, message, advice=advice)


def _bounds(case: _Case) -> Iterator[Verdict]:
    schema, own = case.schema, case.pair.own
    for keyword, other in contradictions(schema, own):
        ours = f"{other} {shown(own[other])}"
        message = f"{case.pair.name!r} has the {keyword} {shown(schema[keyword])}, but {ours}"
        rule, advice = agreement.annotation_contradicts, "make them agree"
        yield case.found(rule, (keyword,), f"{message} to the function", advice=advice)


_QUESTIONS: tuple[Callable[[_Case], Iterator[Verdict]], ...] = (
    _properties,
    _missing,
    _values,
    _bounds,
)
