"""What a manifest ought to say, going by its function."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from sovl_tools.loading import fitting
from sovl_tools.loading.checks.schema import no_description
from sovl_tools.loading.schemanodes import SchemaNode
from sovl_tools.model.document import JSON, copied
from sovl_tools.scaffolding.account import Account

_BASE = ("parameters",)


def mended(
    document: Mapping[str, JSON], account: Account, *, name: str, prune: bool = False
) -> dict[str, JSON]:
    """Return a manifest brought into line with its function; what it says otherwise stays.

    Args:
        document: a manifest whose ``parameters``, if it has any, are a valid schema.
        account: what the function says.
        name: the tool's name.
        prune: takes out properties that the function does not take.
    """
    found = dict(copied(dict(document)))
    if "name" not in found:
        found = placed(found, "name", name, after=("$schema",))
    text = account.documentation.description
    if text and _is_blank(found.get("description", "")):
        found = placed(found, "description", text, after=("$schema", "name", "title"))
    parameters = _parameters(found.get("parameters", {}), account, prune=prune)
    return placed(found, "parameters", parameters, after=("name", "title", "description"))


def placed(
    document: Mapping[str, JSON], key: str, value: JSON, *, after: Iterable[str]
) -> dict[str, JSON]:
    """Return an object with a member: where it is, or else after those that are there."""
    if key in document:
        return {**document, key: value}
    keys = list(document)
    before = [keys.index(each) for each in after if each in document]
    keys.insert(max(before, default=-1) + 1, key)
    return {each: value if each == key else document[each] for each in keys}


def _is_blank(text: JSON) -> bool:
    return isinstance(text, str) and not text.strip()


def _parameters(parameters: dict[str, JSON], account: Account, *, prune: bool) -> dict[str, JSON]:
    if not parameters:
        return {**account.parameters, "properties": account.described}
    found = parameters
    if "type" not in found:
        found = placed(found, "type", "object", after=("$schema",))
    properties = _properties(found, account, prune=prune)
    found = placed(found, "properties", properties, after=("type",))
    required = _required(found, account, prune=prune)
    if required or "required" in found:
        found = placed(found, "required", required, after=("type", "properties"))
    definitions = _definitions(parameters, properties, account)
    return placed(found, "$defs", definitions, after=found) if definitions else found


def _properties(parameters: dict[str, JSON], account: Account, *, prune: bool) -> dict[str, JSON]:
    found: dict[str, JSON] = {
        name: _property(parameters, name, account)
        for name in parameters.get("properties", ())
        if not prune or account.takes(name)
    }
    earlier: list[str] = []
    for name, schema in account.described.items():
        if name not in found:
            found = placed(found, name, schema, after=earlier)
        earlier.append(name)
    return found


def _property(parameters: dict[str, JSON], name: str, account: Account) -> JSON:
    """Return the schema of a property, with a description and a default if it lacks them."""
    schema, own = parameters["properties"][name], account.parameters["properties"].get(name, {})
    if not isinstance(schema, dict):
        return schema
    node = SchemaNode((*_BASE, "properties", name), schema, parameters, _BASE, is_property=True)
    text = own.get("description") or account.documentation.parameters.get(name)
    found = schema
    if text and any(no_description.check(node)):
        found = placed(found, "description", text, after=("$ref", "type", "title"))
    if "default" in own and "default" not in schema and not fitting.problems(node, own["default"]):
        found = placed(found, "default", own["default"], after=found)
    return found


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


def _definitions(
    before: dict[str, JSON], properties: dict[str, JSON], account: Account
) -> dict[str, JSON]:
    """Return the definitions with those that the new properties refer to."""
    known: dict[str, JSON] = before.get("$defs", {})
    own: dict[str, JSON] = account.parameters.get("$defs", {})
    old = before.get("properties", {})
    pending = [each for name, each in properties.items() if name not in old]
    found = dict(known)
    while pending:
        names = {reference.rpartition("/")[2] for reference in _references(pending.pop())}
        for name in sorted(names & own.keys() - found.keys()):
            found[name] = own[name]
            pending.append(own[name])
    return found


def _references(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        if isinstance(schema.get("$ref"), str):
            yield schema["$ref"]
        schema = list(schema.values())
    for each in schema if isinstance(schema, list) else ():
        yield from _references(each)
