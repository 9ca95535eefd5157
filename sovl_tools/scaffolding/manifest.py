"""A whole manifest, made from what a function says of itself."""

from __future__ import annotations

from sovl_tools.loading.checks.schema import (
    default_on_required,
    no_description,
    no_items,
    no_type,
    unfit_default,
)
from sovl_tools.model.document import JSON, copied
from sovl_tools.scaffolding.account import Account
from sovl_tools.scaffolding.placing import overwrite, placed
from sovl_tools.schema.subschemas import SchemaNode, nodes

_ANY_TYPE = ["string", "number", "boolean", "array", "object", "null"]


def manifest_of(name: str, account: Account, *, description: str = "") -> dict[str, JSON]:
    """Return a manifest; where nothing is known, its texts say what is to be written there."""
    parameters: dict[str, JSON] = copied({**account.parameters, "properties": account.described})
    for node in nodes(parameters, ("parameters",)):
        _complete(node)
    title = {key: value for key, value in account.fields.items() if key == "title"}
    return {
        "name": name,
        **title,
        "description": description or account.documentation.description or purpose_of(name),
        "parameters": parameters,
        **{key: value for key, value in account.fields.items() if key not in title},
    }


def purpose_of(name: str) -> str:
    """Return what stands in the place of a tool's description."""
    return f"Say what {name} does and when to use it."


def meaning_of(name: object) -> str:
    """Return what stands in the place of a property's description."""
    return f"Say what {name} means, its unit and its format."


def _complete(node: SchemaNode) -> None:
    """Add to a subschema what the checks would miss, and drop a default that they refuse."""
    schema = node.schema
    if any(unfit_default.check(node)) or any(default_on_required.check(node)):
        del schema["default"]
    if any(no_type.check(node)):
        _put(schema, "type", list(_ANY_TYPE), after=())
    if any(no_items.check(node)):
        _put(schema, "items", {}, after=("type",))
    if any(no_description.check(node)):
        _put(schema, "description", meaning_of(node.path[-1]), after=("$ref", "type"))


def _put(schema: dict[str, JSON], key: str, value: JSON, *, after: tuple[str, ...]) -> None:
    """Add a member where it belongs, in the very object that the parents hold."""
    overwrite(schema, placed(schema, key, value, after=after))
