"""Values as JSON or YAML text."""

from __future__ import annotations

import json

from sovl_tools.model.document import JSON


def serialized(value: JSON, format: str) -> str:  # noqa: A002 - the field's word
    """Return the value in ``"json"`` or ``"yaml"``, without a final newline."""
    return _yaml(value) if format == "yaml" else json.dumps(value, indent=2, ensure_ascii=False)


def _yaml(value: JSON) -> str:
    import yaml  # noqa: PLC0415 - 20 ms, only for this format

    text: str = yaml.safe_dump(value, sort_keys=False, allow_unicode=True)
    return text.rstrip("\n")
