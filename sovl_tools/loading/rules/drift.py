"""ST4xx, second part: what the manifest leaves out of what the function says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from sovl_tools.annotations.docstrings import Documentation
from sovl_tools.loading.function_spec import FunctionSpec, function_spec
from sovl_tools.loading.patch import patch_manifest
from sovl_tools.loading.rules.agreement import PROPERTIES, AgreementCase, argument_of
from sovl_tools.loading.rules.schema import lacks_description, missing_items
from sovl_tools.model.diagnostic import Finding, ManifestPlace, Verdict, ask, rule
from sovl_tools.model.document import JSON, Path
from sovl_tools.model.errors import InferenceError
from sovl_tools.model.folder import Manifest
from sovl_tools.model.suggestion import nearest
from sovl_tools.schema.problem import shown
from sovl_tools.schema.subschemas import nodes
from sovl_tools.signature.agreement import PARAMETERS


class Change(NamedTuple):
    """What a function says and a manifest doesn't: how the manifest would change.

    Attributes:
        path: of a member or an item, from the root of the patched manifest; of what is required,
            the name comes last.
        is_added: whether it is added, or else taken out.
        value: what is added or taken out.
    """

    path: Path
    is_added: bool
    value: JSON


def changes(document: Mapping[str, JSON], spec: FunctionSpec) -> list[Change]:
    """Return how a sound manifest would change, to be in line with its function."""
    return [*_changes((), document, patch_manifest(document, spec, name=document["name"]))]


def _changes(path: Path, before: JSON, after: JSON) -> Iterator[Change]:
    if isinstance(before, dict) and isinstance(after, dict):
        for key, value in after.items():
            if key in before:
                yield from _changes((*path, key), before[key], value)
            elif key == "required":
                yield from _changes((*path, key), [], value)
            else:
                yield Change((*path, key), is_added=True, value=value)
    elif before == after:
        return
    elif isinstance(before, list) and isinstance(after, list):
        yield from _changed_items(path, before, after)
    else:
        yield Change(path, is_added=True, value=after)


def _changed_items(path: Path, before: list[JSON], after: list[JSON]) -> Iterator[Change]:
    if path[-1] == "required":
        for each in [*after, *before]:
            if each not in before or each not in after:
                yield Change((*path, each), is_added=each in after, value=each)
        return
    for index, each in enumerate(after):
        if index < len(before):
            yield from _changes((*path, index), before[index], each)
        else:
            yield Change((*path, index), is_added=True, value=each)


class DriftCase(NamedTuple):
    """What ``sovl-tools sync`` would change, and the differences that other rules tell of."""

    agreed: AgreementCase
    changes: Sequence[Change]


def drift_verdicts(manifest: Manifest, agreed: AgreementCase) -> list[Verdict]:
    """Return what is said of what a manifest leaves out, as far as its module was imported."""
    function, signature = agreed.interface.function, agreed.interface.signature
    if function is None or signature is None or not signature.is_function:
        return []
    try:
        # the rule about missing descriptions says what the docstring could add
        spec = function_spec(function, signature, said=agreed.implied, document=Documentation)
        found = changes(manifest.document, spec)
    except InferenceError:
        return []
    return ask(RULES, DriftCase(agreed, found)) if found else []


_MOST_CHANGES = 5
# what is defined anew is referred to from a place of its own
_DEFINITIONS = (*PARAMETERS, "$defs")


@rule("ST413", "warning")
def manifest_behind_function(drift: DriftCase) -> Iterator[Finding]:
    """The manifest leaves out what the function says, and ``sovl-tools sync`` would add it.

    That is a parameter that no model is told of, one that is required although it has a default, a
    default, a value of an enum, an alternative, an optional member, or what ``@tool`` says. No call
    fails by that, but a model knows less than the function can do. Run ``sovl-tools sync``. If it
    is left out on purpose, begin the parameter's name with ``_``, or write
    ``"x-ignore": ["ST413"]`` into the manifest. What other rules report is not reported again.
    """
    case = drift.agreed
    reported = {*_reported_places(case), *_reported_of_schemas(drift)}
    found = [
        each
        for each in drift.changes
        if each.path not in reported and each.path[:-1] != _DEFINITIONS
    ]
    if found:
        words = [*dict.fromkeys(map(_change_in_words, found))]
        more = ", …" * (len(words) > _MOST_CHANGES)
        listed = f"{', '.join(words[:_MOST_CHANGES])}{more}"
        message = f"the manifest leaves out what the function says: {listed}"
        place = ManifestPlace(PARAMETERS if found[0].path[0] in PARAMETERS else ())
        yield Finding(place, message, f"add it: sovl-tools sync {case.name}")


def _reported_places(case: AgreementCase) -> Iterator[Path]:
    """Yield the places of changes that findings of other rules are about."""
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
    """Yield the places of changes within schemas whose lack another rule tells of."""
    lacking = {each.path[:-1] for each in drift.changes if each.path[-1] in _TOLD_OF}
    for node in nodes(drift.agreed.parameters, PARAMETERS) if lacking else ():
        if node.path in lacking:
            if lacks_description(node):
                yield (*node.path, "description")
            if any(missing_items.check(node)):
                yield from ((*node.path, "items"), (*node.path, "prefixItems"))


_TOLD_OF = frozenset({"description", "items", "prefixItems"})


def _member_places(path: Path, name: str) -> Iterator[Path]:
    """Yield where a member that an object needs may have to be added."""
    yield from ((*path, "properties"), (*path, "properties", name), (*path, "required", name))


def _change_in_words(change: Change) -> str:
    *above, last = change.path
    kind = above[-1] if above else ""
    name = _name_in_words(above[:-1])
    match kind:
        case "properties":
            return f"the property {_name_in_words(change.path)!r}"
        case "required":
            whole = _name_in_words([*above[:-1], "properties", last])
            return f"that {whole!r} {'is required' if change.is_added else 'may be left out'}"
        case "enum":
            return f"{shown(change.value)} for {name!r}"
        case "anyOf" | "oneOf":
            return f"an alternative of {name!r}"
        case _ if change.path[0] in PARAMETERS and len(above) > 1:
            return f"the {last} of {_name_in_words(above)!r}"
        case _:
            return repr(".".join(map(str, change.path)))


def _name_in_words(path: Sequence[str | int]) -> str:
    """Return what people call a place: ``places[].city``."""
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
