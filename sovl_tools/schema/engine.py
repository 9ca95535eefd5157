"""JSON Schema, draft 2020-12, behind one small interface.

Only this package imports the engines. jsonschema-rs is used if it is installed, jsonschema
otherwise; the same engine accepts and explains a value, because the two disagree about corner
cases.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from functools import cache, lru_cache
from importlib import import_module
from types import ModuleType

from sovl_tools.model.document import JSON
from sovl_tools.model.errors import SchemaError
from sovl_tools.schema.explainer import Explainer, IsValid
from sovl_tools.schema.patterns import complaint, foreign_group, with_translated
from sovl_tools.schema.problem import Problem, Validator
from sovl_tools.schema.subschemas import SchemaNode, detached

PUBLISHED = ("tool", "config", "procedure")
"""The names of the schemas that this package publishes."""


@cache
def meta_schema() -> Validator:
    """Return the validator of schemas themselves (draft 2020-12)."""
    tool: JSON = json.loads(schema_text("tool"))
    return compile_schema({"$ref": "#/$defs/schema", "$defs": tool["$defs"]})


def compile_schema(schema: JSON, *, with_formats: bool = False) -> Validator:
    """Return a validator of the schema; ``format`` is only checked ``with_formats``.

    The network is never used: a ``$ref`` to another document is an error, except for the
    meta-schemas of JSON Schema.

    Raises:
        SchemaError: the schema is invalid, or the target of a reference is missing.
    """
    return compile_with(_engine(), schema, with_formats=with_formats)


def compile_with(
    engine: ModuleType,
    schema: JSON,
    *,
    with_formats: bool = False,
    node: SchemaNode | None = None,
) -> Validator:
    """Return a validator of one engine; see ``compile_schema``.

    ``node`` is where the schema was detached from.
    """

    def compile_part(part: JSON) -> IsValid:
        return _is_valid_with(engine, part, with_formats=with_formats)

    explainer = Explainer(compile_part, node or SchemaNode((), schema, schema, ()))
    return Validator(compile_part(schema), explainer.problems)


def _is_valid_with(engine: ModuleType, schema: JSON, *, with_formats: bool) -> IsValid:
    """Return a compiled engine; patterns that it rejects are translated."""
    is_valid: IsValid
    try:
        is_valid = engine.compiled(schema, with_formats=with_formats)
    except SchemaError:
        plain = with_translated(schema)
        if plain == schema:
            raise
        is_valid = engine.compiled(plain, with_formats=with_formats)
    return is_valid


def problems_at(node: SchemaNode, value: JSON, *, with_formats: bool = False) -> list[Problem]:
    """Return the problems of a value under a subschema; none if the subschema doesn't compile."""
    try:
        return compile_part(node, with_formats=with_formats).problems(value)
    except SchemaError:
        return []


def compile_part(node: SchemaNode, *, with_formats: bool = False) -> Validator:
    """Return a validator of a subschema, whose references lead to places in its root.

    Raises:
        SchemaError: as for ``compile_schema``.
    """
    return compile_with(_engine(), detached(node), with_formats=with_formats, node=node)


def compiles(pattern: str) -> bool:
    """Return True if a pattern is a regular expression that the engine can use."""
    return _pattern_validator(pattern) is not None


def pattern_problem(pattern: str) -> tuple[str, str | None] | None:
    """Return why a pattern can't be used, and its correct form if there is one; or None."""
    # some engines understand groups of other languages
    return foreign_group(pattern) or (None if compiles(pattern) else complaint(pattern))


def matches(pattern: str, text: str) -> bool:
    """Return True if the engine finds a pattern in a string."""
    validator = _pattern_validator(pattern)
    return validator is not None and validator(text)


@lru_cache(maxsize=1024)
def _pattern_validator(pattern: str) -> Callable[[JSON], bool] | None:
    try:
        return compile_schema({"pattern": pattern}).is_valid
    except SchemaError:
        return None


@cache
def _engine() -> ModuleType:
    try:
        return import_module("sovl_tools.schema.rust_engine")
    except ImportError:
        return import_module("sovl_tools.schema.python_engine")


@cache
def published(name: str) -> Validator:
    """Return the validator of a schema that this package publishes."""
    schema: JSON = json.loads(schema_text(name))
    return compile_schema(schema)


@cache
def schema_text(name: str) -> str:
    """Return the text of ``schemas/<name>.schema.json``."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    # a wheel has the schemas in the package, a checkout next to it
    shipped = f"{package}/schemas"
    folder = shipped if os.path.isdir(shipped) else f"{os.path.dirname(package)}/schemas"
    with open(f"{folder}/{name}.schema.json", encoding="utf-8") as file:
        return file.read()
