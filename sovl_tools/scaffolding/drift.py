"""What a manifest ought to say, going by its function."""

from __future__ import annotations

from collections.abc import Mapping

from sovl_tools.model.document import JSON, copied
from sovl_tools.model.folder import SECTIONS
from sovl_tools.scaffolding.account import Account
from sovl_tools.scaffolding.mending import annotated, mend_inside
from sovl_tools.scaffolding.naming import renamed
from sovl_tools.scaffolding.placing import placed, with_new
from sovl_tools.scaffolding.writable import needed
from sovl_tools.schema.subschemas import SchemaNode
from sovl_tools.signature.pairs import BASE


def mended(
    document: Mapping[str, JSON], account: Account, *, name: str, prune: bool = False
) -> dict[str, JSON]:
    """Return a manifest brought into line with its folder and its function.

    What it says otherwise stays.

    Args:
        document: a manifest whose ``parameters``, if it has any, are a valid schema.
        account: what the function says.
        name: the folder's name.
        prune: takes out properties and values that the function does not take.
    """
    found = dict(copied(dict(document)))
    found = placed(found, "name", name, after=("$schema",))
    text = account.documentation.description
    if text and _is_blank(found.get("description", "")):
        found = placed(found, "description", text, after=("$schema", "name", "title"))
    parameters = _parameters(found.get("parameters", {}), account, prune=prune)
    found = placed(found, "parameters", parameters, after=("name", "title", "description"))
    return _with_fields(found, account.fields)


def _with_fields(found: dict[str, JSON], fields: Mapping[str, JSON]) -> dict[str, JSON]:
    """Return a manifest with the keys that the decorator says, and with their keys."""
    whole = with_new(found, fields, after=("$schema", "name", "description", "parameters"))
    for key in SECTIONS.keys() & fields.keys():
        if isinstance(whole[key], dict):
            whole[key] = with_new(whole[key], fields[key], after=whole[key])
    return whole


def _is_blank(text: JSON) -> bool:
    return isinstance(text, str) and not text.strip()


def _parameters(parameters: dict[str, JSON], account: Account, *, prune: bool) -> dict[str, JSON]:
    if not parameters:
        return {**account.parameters, "properties": account.described}
    account = account._replace(parameters=renamed(parameters, account.parameters))
    mend_inside(parameters, account.parameters, prune=prune)
    found = parameters
    if "type" not in found:
        found = placed(found, "type", "object", after=("$schema",))
    properties = _properties(found, account, prune=prune)
    found = placed(found, "properties", properties, after=("type",))
    required = _required(found, account, prune=prune)
    if required or "required" in found:
        found = placed(found, "required", required, after=("type", "properties"))
    definitions = _definitions(found, account.parameters.get("$defs", {}))
    return placed(found, "$defs", definitions, after=found) if definitions else found


def _properties(parameters: dict[str, JSON], account: Account, *, prune: bool) -> dict[str, JSON]:
    found = {
        name: _property(parameters, name, account)
        for name in parameters.get("properties", ())
        if not prune or account.takes(name)
    }
    return with_new(found, account.described)


def _property(parameters: dict[str, JSON], name: str, account: Account) -> JSON:
    """Return the schema of a property, with a description and a default if it lacks them."""
    schema, own = parameters["properties"][name], account.parameters["properties"].get(name, {})
    if not isinstance(schema, dict):
        return schema
    node = SchemaNode((*BASE, "properties", name), schema, parameters, BASE, is_property=True)
    return annotated(node, own, account.documentation.parameters.get(name))


def _required(parameters: dict[str, JSON], account: Account, *, prune: bool) -> list[str]:
    properties = parameters["properties"]
    found = [
        name
        for name in parameters.get("required", ())
        if not account.has_default(name) and not (prune and name not in properties)
    ]
    position = 0
    for name in filter(account.needs, account.arguments):
        if name in found:
            position = found.index(name) + 1
        elif name in properties:
            found.insert(position, name)
            position += 1
    return found


def _definitions(parameters: dict[str, JSON], own: Mapping[str, JSON]) -> dict[str, JSON]:
    """Return the definitions with those of the function's that something refers to."""
    known: dict[str, JSON] = parameters.get("$defs", {})
    new = sorted({*needed(parameters, {**own, **known})} - known.keys())
    return {**known, **{name: own[name] for name in new}}
