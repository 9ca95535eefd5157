"""The formats that no provider rules over: the neutral one, OpenAPI documents, and text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.formats.rules import checks

_COMPONENT = r"[a-zA-Z0-9._-]+"


def problems_of_json_schema(definition: Any, *, strict: bool = False) -> list[str]:
    """Return what is wrong with a neutral definition."""
    needed = {"name": str, "description": str, "parameters": dict}
    return list(checks.keys(definition, needed, {})) or [*checks.sound(definition["parameters"])]


def problems_of_openapi(document: Any) -> list[str]:
    """Return what is wrong with an OpenAPI 3.1 document of tools.

    Schemas that stand within a request's body are not checked by validators and so rejected.
    """
    from openapi_spec_validator import validate

    try:
        validate(document)
    except Exception as error:  # noqa: BLE001 - it lets errors of libraries below through
        return [f"{type(error).__name__}: {error!s:.300}"]
    return [*_operations(document), *_components(document)]


def _operations(document: dict[str, Any]) -> Iterator[str]:
    for path, item in document["paths"].items():
        if item.keys() != {"post"}:
            yield f"{path} has {[*item]}"
            continue
        operation = item["post"]
        schema = operation["requestBody"]["content"]["application/json"]["schema"]
        if schema.keys() != {"$ref"}:
            yield f"the arguments of {path} stand inline"
        if not operation["responses"].keys() & {"4XX", "400", "default"}:
            yield f"{path} describes no errors"


def _components(document: dict[str, Any]) -> Iterator[str]:
    for name in document.get("components", {}).get("schemas", {}):
        yield from checks.name(name, _COMPONENT)


def problems_of_prompt(text: Any) -> list[str]:
    """Return what is wrong with instructions in words."""
    return [] if isinstance(text, str) else [f"a {type(text).__name__} isn't text"]
