"""ST413: the function's parts that the manifest omits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from sovl_tools.annotations.docstrings import Documentation
from sovl_tools.loading.function_spec import function_spec
from sovl_tools.loading.omissions import Omission, omissions
from sovl_tools.loading.rules.agreement_case import PROPERTIES, AgreementCase, argument_of
from sovl_tools.loading.rules.schema import lacks_description, missing_items
from sovl_tools.model.diagnostic import Finding, ManifestPlace, Verdict, ask, rule
from sovl_tools.model.document import Path
from sovl_tools.model.errors import InferenceError
from sovl_tools.model.folder import Manifest
from sovl_tools.model.suggestion import nearest
from sovl_tools.schema.problem import shown
from sovl_tools.schema.subschemas import nodes
from sovl_tools.signature.agreement import PARAMETERS


class DriftCase(NamedTuple):
    """A manifest's omissions, and the differences that other rules report."""

    agreed: AgreementCase
    omissions: Sequence[Omission]


def drift_verdicts(manifest: Manifest, agreed: AgreementCase) -> list[Verdict]:
    """Return the findings about a manifest's omissions; without an import there aren't any."""
    function, signature = agreed.interface.function, agreed.interface.signature
    if function is None or signature is None or not signature.is_function:
        return []
    try:
        # the rule about missing descriptions mentions the docstring's
        spec = function_spec(function, signature, said=agreed.implied, document=Documentation)
        found = omissions(manifest.document, spec)
    except InferenceError:
        return []
    return ask(RULES, DriftCase(agreed, found)) if found else []


_MOST_SHOWN = 5
# the omission that refers to a new definition is reported instead
_DEFINITIONS = (*PARAMETERS, "$defs")


@rule("ST413", "warning")
def manifest_behind_function(drift: DriftCase) -> Iterator[Finding]:
    """The manifest omits a part of the function, and ``sovl-tools sync`` would add it.

    Such a part is a parameter unknown to models, a required one that has a default, a
    default, a value of an enum, an alternative, an optional member, or what ``@tool`` says. No call
    fails by that, but a model has less information than the function. Run ``sovl-tools sync``. If
    it is omitted on purpose, begin the parameter's name with ``_``, or write ``"x-ignore":
    ["ST413"]`` into the manifest. What other rules report is not reported again.
    """
    case = drift.agreed
    reported = {*_reported_places(case), *_reported_of_schemas(drift)}
    found = [
        each
        for each in drift.omissions
        if each.path not in reported and each.path[:-1] != _DEFINITIONS
    ]
    if found:
        words = [*dict.fromkeys(map(_in_words, found))]
        more = ", …" * (len(words) > _MOST_SHOWN)
        listed = f"{', '.join(words[:_MOST_SHOWN])}{more}"
        message = f"the manifest omits what the function says: {listed}"
        place = ManifestPlace(PARAMETERS if found[0].path[0] in PARAMETERS else ())
        yield Finding(place, message, f"add it: sovl-tools sync {case.name}")


def _reported_places(case: AgreementCase) -> Iterator[Path]:
    """Yield the places of omissions that other rules report."""
    yield from (("description",), _DEFINITIONS)
    for each in case.differences:
        if each.kind == "not_sent":
            yield (*PROPERTIES, each.name)
            yield (*PARAMETERS, "required", each.name)
        elif each.kind in {"required_not_taken", "optional_not_taken"}:
            near = nearest(each.name, case.spare)
            if near is not None:
                yield (*PROPERTIES, near)
        elif each.kind == "missing":
            yield from _member_places(each.path, each.own)
        elif each.kind == "omitted" and argument_of(each) in case.converted:
            yield (*each.path, each.own[0])
            for name in each.own[1] if each.own[0] == "required" else ():
                yield from _member_places(each.path, name)


def _reported_of_schemas(drift: DriftCase) -> Iterator[Path]:
    """Yield the places of descriptions and items that rules of schemas report as missing."""
    lacking = {each.path[:-1] for each in drift.omissions if each.path[-1] in _OF_SCHEMAS}
    for node in nodes(drift.agreed.parameters, PARAMETERS) if lacking else ():
        if node.path in lacking:
            if lacks_description(node):
                yield (*node.path, "description")
            if any(missing_items.check(node)):
                yield from ((*node.path, "items"), (*node.path, "prefixItems"))


_OF_SCHEMAS = frozenset({"description", "items", "prefixItems"})


def _member_places(path: Path, name: str) -> Iterator[Path]:
    """Yield the places where a required member can be missing."""
    yield from ((*path, "properties"), (*path, "properties", name), (*path, "required", name))


def _in_words(omission: Omission) -> str:
    *above, last = omission.path
    kind = above[-1] if above else ""
    name = _name_in_words(above[:-1])
    match kind:
        case "properties":
            return f"the property {_name_in_words(omission.path)!r}"
        case "required":
            whole = _name_in_words([*above[:-1], "properties", last])
            return f"that {whole!r} {'is required' if omission.is_added else 'can be omitted'}"
        case "enum":
            return f"{shown(omission.value)} for {name!r}"
        case "anyOf" | "oneOf":
            return f"an alternative of {name!r}"
        case _ if omission.path[0] in PARAMETERS and len(above) > 1:
            return f"the {last} of {_name_in_words(above)!r}"
        case _:
            return repr(".".join(map(str, omission.path)))


def _name_in_words(path: Sequence[str | int]) -> str:
    """Return the name of a place for people: ``places[].city``."""
    name, keys = "", iter(path[1:])
    for key in keys:
        if key in {"properties", "$defs"}:
            part = next(keys, "")
            name = f"{name}.{part}" if name else str(part)
        elif key in {"items", "additionalProperties"}:
            name += "[]"
        elif key == "prefixItems":
            name += f"[{next(keys, '')}]"
    return name


RULES = (manifest_behind_function,)
