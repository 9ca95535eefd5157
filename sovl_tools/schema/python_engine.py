"""The engine jsonschema: pure Python, for machines without a wheel of the other."""

from __future__ import annotations

from functools import partial
from typing import Any

from jsonschema import Draft202012Validator, FormatChecker
from jsonschema.exceptions import SchemaError as EngineSchemaError
from jsonschema_specifications import REGISTRY
from referencing.exceptions import Unresolvable
from referencing.jsonschema import DRAFT202012

from sovl_tools.model.document import JSON
from sovl_tools.model.errors import SchemaError
from sovl_tools.schema.explainer import IsValid

_FORMATS = FormatChecker(formats=["regex"])


def compiled(schema: JSON, *, with_formats: bool) -> IsValid:
    """Compile the schema; see ``sovl_tools.schema.engine.compile_schema``."""
    try:
        Draft202012Validator.check_schema(schema, format_checker=_FORMATS)
        # The engine itself looks references up only when a value leads it to them.
        resource = DRAFT202012.create_resource(schema)
        _resolve_references(resource, REGISTRY.resolver_with_root(resource))
    except (EngineSchemaError, Unresolvable, RecursionError) as error:
        raise SchemaError(str(error).partition("\n")[0]) from error
    checker = FormatChecker() if with_formats else None
    engine = Draft202012Validator(schema, registry=REGISTRY, format_checker=checker)
    return partial(_is_valid, engine)


def _resolve_references(resource: Any, resolver: Any) -> None:
    """Raise Unresolvable for a reference that leads nowhere."""
    if isinstance(resource.contents, dict):
        for keyword in ("$ref", "$dynamicRef"):
            if isinstance(resource.contents.get(keyword), str):
                resolver.lookup(resource.contents[keyword])
    for part in resource.subresources():
        _resolve_references(part, resolver.in_subresource(part))


def _is_valid(engine: Any, value: JSON) -> bool:
    try:
        return bool(engine.is_valid(value))
    except RecursionError:
        return False
