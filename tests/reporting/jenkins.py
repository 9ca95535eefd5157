from __future__ import annotations

from functools import cache
from pathlib import Path

from xmlschema import XMLSchema


@cache
def jenkins() -> XMLSchema:
    """Return the schema of Jenkins' xUnit plugin, which holds its licence."""
    return XMLSchema(Path(__file__).parent / "junit-10.xsd")
