"""The engine jsonschema-rs: a validator compiled to native code."""

from __future__ import annotations

import jsonschema_rs

from sovl_tools.model.document import JSON
from sovl_tools.model.errors import SchemaError
from sovl_tools.schema.explainer import IsValid


def compiled(schema: JSON, *, with_formats: bool) -> IsValid:
    """Compile the schema; see ``sovl_tools.schema.engine.compile_schema``."""
    try:
        # Offline: a reference to an address is an error and never fetched.
        validator = jsonschema_rs.Draft202012Validator(
            schema, offline=True, validate_formats=with_formats
        )
    except ValueError as error:
        raise SchemaError(str(error).partition("\n")[0]) from error
    return validator.is_valid
