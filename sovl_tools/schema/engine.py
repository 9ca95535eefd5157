"""JSON Schema, draft 2020-12, behind one small interface.

Only this package knows the engines. jsonschema-rs does the work where it is installed and
jsonschema where it is not; a schema is accepted and explained by one and the same engine,
because the two disagree about corner cases.
"""

from __future__ import annotations

import json
import os
from functools import cache
from importlib import import_module
from types import ModuleType

from sovl_tools.model.document import JSON
from sovl_tools.schema.problem import Problem, Validator

__all__ = ["Problem", "Validator", "compile_schema", "engine_name", "published", "schema_text"]

PUBLISHED = ("tool", "config", "procedure")
"""The names of the schemas that this package publishes."""

_ENGINES = {
    "jsonschema-rs": ("jsonschema_rs", "sovl_tools.schema.rust_engine"),
    "jsonschema": ("jsonschema", "sovl_tools.schema.python_engine"),
}


@cache
def meta_schema() -> Validator:
    """Return what checks schemas themselves (draft 2020-12)."""
    return compile_schema({"$ref": "https://json-schema.org/draft/2020-12/schema"})


def compile_schema(schema: JSON) -> Validator:
    """Return a validator of the schema; ``format`` is an annotation and not checked.

    Nothing is ever fetched: a ``$ref`` to another document is an error, but for the
    meta-schemas of JSON Schema itself.

    Raises:
        SchemaError: the schema is invalid or refers to something that is not there.
    """
    validator: Validator = _engine().compile_schema(schema)
    return validator


def engine_name() -> str:
    """Return the name of the engine in use, ``"jsonschema-rs"`` or ``"jsonschema"``."""
    return next(name for name, (_, module) in _ENGINES.items() if module == _engine().__name__)


@cache
def _engine() -> ModuleType:
    # Our module for an engine imports its library at once, so that is tried first.
    for library, module in _ENGINES.values():
        try:
            import_module(library)
        except ImportError:
            continue
        return import_module(module)
    raise ImportError("sovl-tools needs jsonschema-rs or jsonschema")


@cache
def published(name: str) -> Validator:
    """Return the validator of a schema that this package publishes."""
    schema: JSON = json.loads(schema_text(name))
    return compile_schema(schema)


@cache
def schema_text(name: str) -> str:
    """Return the text of ``schemas/<name>.schema.json``."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    # in a wheel the schemas lie in the package, in a checkout beside it
    shipped = f"{package}/schemas"
    folder = shipped if os.path.isdir(shipped) else f"{os.path.dirname(package)}/schemas"
    with open(f"{folder}/{name}.schema.json", encoding="utf-8") as file:
        return file.read()
