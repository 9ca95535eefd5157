"""The schemas that this package publishes, and validators of them."""

from __future__ import annotations

import json
import os
from functools import cache

from sovl_tools.model.document import JSON
from sovl_tools.schema.engine import Validator, compile_schema

NAMES = ("tool", "config", "procedure")


@cache
def schema_text(name: str) -> str:
    """Return the text of ``schemas/<name>.schema.json``."""
    with open(f"{_folder()}/{name}.schema.json", encoding="utf-8") as file:
        return file.read()


@cache
def published(name: str) -> Validator:
    """Return the validator of a published schema."""
    schema: JSON = json.loads(schema_text(name))
    return compile_schema(schema)


def _folder() -> str:
    """Return where the schemas are: in the wheel's package, or at a checkout's top level."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    shipped = f"{package}/schemas"
    return shipped if os.path.isdir(shipped) else f"{os.path.dirname(package)}/schemas"
