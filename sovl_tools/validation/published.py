"""The schemas that this package publishes, and validators of them."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

from sovl_tools.model.document import JSON
from sovl_tools.validation import Validator, compile_schema

NAMES = ("tool", "config")


@cache
def schema_text(name: str) -> str:
    """Return the text of ``schemas/<name>.schema.json``."""
    return (_folder() / f"{name}.schema.json").read_text(encoding="utf-8")


@cache
def published(name: str) -> Validator:
    """Return the validator of a published schema."""
    schema: JSON = json.loads(schema_text(name))
    return compile_schema(schema)


def _folder() -> Path:
    """Return where the schemas are: in the wheel's package, or at a checkout's top level."""
    package = Path(__file__).parent.parent
    shipped = package / "schemas"
    return shipped if shipped.is_dir() else package.parent / "schemas"
