"""Definitions that contain themselves, which some providers reject."""

from __future__ import annotations

from collections.abc import Iterator

from sovl_tools.formats.base import ROOT
from sovl_tools.formats.transformer import Transformed
from sovl_tools.model.document import JSON, Path
from sovl_tools.schema.keywords import IN_LIST, SINGLE

_NESTING = frozenset({*IN_LIST, *SINGLE})


def recursions(found: Transformed, *, through_optional: bool) -> Iterator[Path]:
    """Yield the places in the manifest of definitions that contain themselves.

    Args:
        found: a schema with its definitions.
        through_optional: whether to follow properties that can be omitted.
    """
    if not found.definitions.are_used:
        return
    schemas = {f"#/$defs/{name}": each for name, each in found.schema.get("$defs", {}).items()}
    schemas["#"] = {key: each for key, each in found.schema.items() if key != "$defs"}
    inner = {name: _references(each, through_optional) for name, each in schemas.items()}
    for reference in inner:
        reached: set[str] = set()
        pending = [reference]
        while pending:
            following = inner.get(pending.pop(), set()) - reached
            reached |= following
            pending += following
        if reference in reached:
            source = found.definitions.targets.get(reference.removeprefix("#/$defs/"))
            yield (*ROOT, *(() if source is None else source.path))


def _references(schema: JSON, through_optional: bool) -> set[str]:  # noqa: FBT001 - passed on
    found, pending = set(), [schema]
    for each in pending:  # which grows
        if not isinstance(each, dict):
            continue
        if "$ref" in each:
            found.add(each["$ref"])
        properties = each.get("properties", {})
        names = properties if through_optional else each.get("required", ())
        pending += [properties[name] for name in names if name in properties]
        for keyword in each.keys() & _NESTING:
            below = each[keyword]
            pending += below if isinstance(below, list) else [below]
    return found
