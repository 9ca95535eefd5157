"""JSON Schema, draft 2020-12, behind one small interface.

Only this package knows the engines. jsonschema-rs does the work where it is installed and
jsonschema where it is not; a schema is accepted and explained by one and the same engine,
because the two disagree about corner cases.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from types import ModuleType

from sovl_tools.model.document import JSON
from sovl_tools.schema.problem import Problem, Validator

__all__ = ["Problem", "Validator", "compile_schema", "engine_name"]

_ENGINES = {
    "jsonschema-rs": ("jsonschema_rs", "sovl_tools.schema.rust_engine"),
    "jsonschema": ("jsonschema", "sovl_tools.schema.python_engine"),
}


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
    for library, module in _ENGINES.values():
        try:
            import_module(library)
        except ImportError:
            continue
        return import_module(module)
    raise ImportError("sovl-tools needs jsonschema-rs or jsonschema")
