"""The manifest that a function asks for."""

from __future__ import annotations

from collections.abc import Callable

from sovl_tools.loading.function_spec import FunctionSpec
from sovl_tools.loading.patch import insert, overwrite
from sovl_tools.loading.rules.description import DESCRIPTION_PLACEHOLDER, PROPERTY_PLACEHOLDER
from sovl_tools.loading.rules.schema import (
    default_on_required,
    invalid_default,
    missing_description,
    missing_items,
    missing_type,
)
from sovl_tools.model.document import JSON, Path, copied
from sovl_tools.schema.subschemas import SchemaNode, nodes
from sovl_tools.signature.pairs import BASE


def manifest_of(name: str, spec: FunctionSpec, *, description: str = "") -> dict[str, JSON]:
    """Return a manifest; where nothing is known, its texts say what is to be written there."""
    parameters = complete({**spec.parameters, "properties": spec.described}, BASE)
    title = {key: value for key, value in spec.fields.items() if key == "title"}
    return {
        "name": name,
        **title,
        "description": description
        or spec.documentation.description
        or description_placeholder(name),
        "parameters": parameters,
        **{key: value for key, value in spec.fields.items() if key not in title},
    }


def complete(
    schema: dict[str, JSON], base: Path, describe: Callable[[SchemaNode], str] | None = None
) -> dict[str, JSON]:
    """Return a schema with what the checks would miss; a default that they refuse goes.

    ``describe`` says what a property means; otherwise a text says that this is to be written.
    """
    found: dict[str, JSON] = copied(schema)
    for node in nodes(found, base):
        own = node.schema
        if any(invalid_default.check(node)) or any(default_on_required.check(node)):
            del own["default"]
        if any(missing_type.check(node)):
            types = ["string", "number", "boolean", "array", "object", "null"]
            overwrite(own, insert(own, "type", types, after=()))
        if any(missing_items.check(node)):
            overwrite(own, insert(own, "items", {}, after=("type",)))
        if any(missing_description.check(node)):
            text = property_placeholder(node.path[-1]) if describe is None else describe(node)
            overwrite(own, insert(own, "description", text, after=("$ref", "type")))
    return found


def description_placeholder(name: str) -> str:
    """Return what stands in the place of a tool's description."""
    return DESCRIPTION_PLACEHOLDER.format(name)


def property_placeholder(name: object) -> str:
    """Return what stands in the place of a property's description."""
    return PROPERTY_PLACEHOLDER.format(name)
