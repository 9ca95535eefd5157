"""Tool folders for the benchmarks: three kinds, any number of each."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

KINDS = ("plain", "rich", "real")

_PLAIN_CODE = '''"""A tool with two parameters."""


def {name}(a: int, b: int) -> dict:
    """Add two numbers."""
    return {{"result": a + b}}
'''

RICH_CODE = '''"""A tool with six parameters."""

import re
from typing import Any, Optional

LIMIT = 10


def clean(text: str) -> str:
    """Return the text without white space at its ends."""
    return re.sub(r"\\s+", " ", text.strip())


def {name}(
    query: str,
    limit: int,
    options: dict[str, Any],
    tags: list[str],
    mode: str = "fast",
    note: Optional[str] = None,
) -> dict:
    """Search for something."""
    found = [clean(tag) for tag in tags][:limit]
    return {{"query": clean(query), "found": found, "mode": mode, "note": note, **options}}
'''


def _plain(name: str) -> dict[str, Any]:
    number = {"type": "integer", "description": "A number."}
    return {
        "name": name,
        "description": "Add two numbers.",
        "parameters": {
            "type": "object",
            "properties": {"a": number, "b": number},
            "required": ["a", "b"],
        },
    }


def _rich(name: str) -> dict[str, Any]:
    properties = {
        "query": {"type": "string", "description": "What to search for."},
        "limit": {"type": "integer", "description": "How many.", "minimum": 1, "maximum": 50},
        "options": {
            "type": "object",
            "description": "Further options.",
            "properties": {
                "language": {"type": "string", "description": "An ISO 639 code."},
                "safe": {"type": "boolean", "description": "Whether to filter."},
            },
            "required": ["language"],
        },
        "tags": {
            "type": "array",
            "description": "Tags that must be there.",
            "items": {"type": "string", "description": "One tag."},
        },
        "mode": {
            "type": "string",
            "description": "How to search.",
            "enum": ["fast", "exact", "fuzzy"],
        },
        "note": {"type": "string", "description": "A remark that is kept."},
    }
    required = ["query", "limit", "options", "tags"]
    return {
        "name": name,
        "description": "Search for something and return what was found.",
        "parameters": {"type": "object", "properties": properties, "required": required},
    }


def real(name: str) -> dict[str, Any]:
    manifest = _rich(name)
    manifest["parameters"]["properties"]["query"]["pattern"] = "^[a-z ]+$"
    given = {"query": "cats and dogs", "limit": 5, "options": {"language": "en"}, "tags": ["a"]}
    manifest["examples"] = [{"input": given, "output": {}}, {"input": json.dumps(given)}]
    manifest["activation_phrases"] = [f"search {name}", f"look up {name}", f"{name} please"]
    manifest["tags"] = ["search", "text"]
    return manifest


_MAKERS = {"plain": (_plain, _PLAIN_CODE), "rich": (_rich, RICH_CODE), "real": (real, RICH_CODE)}


def make_folders(root: Path, kind: str, count: int) -> None:
    """Write ``count`` tool folders of the kind into the directory."""
    manifest, code = _MAKERS[kind]
    for index in range(count):
        name = f"{kind}_{index:05}"
        folder = root / name
        folder.mkdir(parents=True)
        text = json.dumps(manifest(name), indent=2)
        (folder / f"{name}.json").write_text(text, encoding="utf-8")
        (folder / f"{name}.py").write_text(code.format(name=name), encoding="utf-8")
