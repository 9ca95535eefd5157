from typing import Any


def json_schema_2020_12_tool(**contact: Any) -> str:
    return f"got {sorted(contact)}"
