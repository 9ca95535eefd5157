"""Tool folders of the shapes that people write, for the benchmark of loading."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

Properties: TypeAlias = dict[str, dict[str, Any]]
Make: TypeAlias = Callable[[str], tuple[Any, str]]
"""Makes the manifest and the code of the tool of a name."""

_CODE = '''"""A tool."""


def {name}({parameters}) -> dict:
    """Return what was given."""
    return {{"result": [{names}]}}
'''
_DECORATED = '''"""A tool with a decorator."""

import functools


def counted(function):
    """Count the calls of a function."""

    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        wrapper.calls += 1
        return function(*args, **kwargs)

    wrapper.calls = 0
    return wrapper


@counted
def {name}({parameters}) -> dict:
    """Return what was given."""
    return {{"result": [{names}]}}
'''
_DOCUMENTED = '''"""A tool whose parameters are described in its docstring alone."""


def {name}({parameters}) -> dict:
    """Return what was given.

    Args:
{words}
    """
    return {{"result": [{names}]}}
'''
_RICH_CODE = '''"""A tool with six parameters."""

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
_DEFS = {
    "place": {
        "type": "object",
        "description": "A place on the earth.",
        "properties": {
            "latitude": {"type": "number", "description": "In degrees.", "minimum": -90},
            "longitude": {"type": "number", "description": "In degrees."},
        },
        "required": ["latitude", "longitude"],
    },
    "unit": {
        "description": "A unit of length.",
        "oneOf": [
            {"const": "m", "description": "Metres."},
            {"const": "ft", "description": "Feet."},
        ],
    },
}


def _plain() -> Properties:
    number = {"type": "integer", "description": "A number."}
    return {"a": number, "b": number}


def _optional() -> Properties:
    either = [{"type": "integer", "minimum": 0}, {"type": "null"}]
    return {
        "query": {"type": "string", "description": "What to search for."},
        "limit": {"anyOf": either, "description": "How many, at most.", "default": None},
    }


def _referring() -> Properties:
    return {
        "start": {"$ref": "#/$defs/place"},
        "end": {"$ref": "#/$defs/place"},
        "unit": {"$ref": "#/$defs/unit"},
    }


def _nested() -> Properties:
    point = {"type": "array", "items": {"type": "number"}, "description": "A point."}
    label = {"type": "string", "maxLength": 80, "description": "A label."}
    return {
        "grid": {"type": "array", "items": point, "description": "All points.", "maxItems": 100},
        "labels": {"type": "object", "additionalProperties": label, "description": "By name."},
    }


def _described(name: str) -> dict[str, Any]:
    return {
        "activation_phrases": [f"measure {name}", f"please find {name}"],
        "tags": ["maps", "distance"],
        "examples": [{"input": {"a": 1, "b": 2}, "output": {}}, {"input": '{"a": 3, "b": 4}'}],
        "annotations": {"read_only": True, "idempotent": True},
        "version": "1.0",
    }


def _manifest(name: str, properties: Properties, **keys: Any) -> dict[str, Any]:
    required = [each for each in properties if "default" not in properties[each]]
    parameters = {"type": "object", "properties": properties, "required": required}
    if any("$ref" in each for each in properties.values()):
        parameters["$defs"] = _DEFS
    return {"name": name, "description": "Do something.", "parameters": parameters, **keys}


def tool_of(properties: Properties, code: str = _CODE) -> Make:
    """Return what makes a tool whose function takes such properties."""

    def made(name: str) -> tuple[Any, str]:
        defaults = {each: " = None" for each in properties if "default" in properties[each]}
        parameters = ", ".join(f"{each}{defaults.get(each, '')}" for each in properties)
        text = code.format(name=name, parameters=parameters, names=", ".join(properties))
        return _manifest(name, properties), text

    return made


def _with_keys(name: str) -> tuple[Any, str]:
    pattern = {"type": "string", "description": "A word.", "pattern": "^[a-z]+$", "default": "m"}
    properties = {**_plain(), "unit": pattern}
    manifest, code = tool_of(properties)(name)
    return {**manifest, **_described(name)}, code


def _documented(name: str) -> tuple[Any, str]:
    names = [f"value{index}" for index in range(6)]
    code = _DOCUMENTED.format(
        name=name,
        parameters=", ".join(f"{each}: str" for each in names),
        words="\n".join(f"        {each}: What it means, in a few words." for each in names),
        names=", ".join(names),
    )
    return _manifest(name, {each: {"type": "string"} for each in names}), code


def _with_examples(name: str) -> tuple[Any, str]:
    manifest, code = tool_of(_referring())(name)
    start, end = {"latitude": 1.5, "longitude": 2.5}, {"latitude": 3, "longitude": 4}
    given = [{"start": start, "end": end, "unit": unit} for unit in ("m", "ft")]
    examples = [{"input": each, "output": {"result": []}} for each in given * 15]
    return {**manifest, "examples": examples}, code


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


def _real_manifest(name: str) -> dict[str, Any]:
    manifest = _rich(name)
    manifest["parameters"]["properties"]["query"]["pattern"] = "^[a-z ]+$"
    given = {"query": "cats and dogs", "limit": 5, "options": {"language": "en"}, "tags": ["a"]}
    manifest["examples"] = [{"input": given, "output": {}}, {"input": json.dumps(given)}]
    manifest["activation_phrases"] = [f"search {name}", f"look up {name}", f"{name} please"]
    manifest["tags"] = ["search", "text"]
    return manifest


def _real(name: str) -> tuple[Any, str]:
    return _real_manifest(name), _RICH_CODE.format(name=name)


SHAPES: dict[str, Make] = {
    "plain": tool_of(_plain()),
    "optional": tool_of(_optional()),
    "nested": tool_of(_nested()),
    "described": _with_keys,
    "documented": _documented,
    "decorated": tool_of(_plain(), _DECORATED),
    "referring": tool_of(_referring()),
    "real": _real,
    "thirty examples": _with_examples,
}
"""What makes a tool, by the name of the shape."""


HEAVY_TOOLS, SECONDS = 40, 0.3
"""How many tools with heavy modules are measured, and how long each module takes."""


def heavy_of(seconds: float) -> Make:
    """Return what makes tools like real ones whose modules take so long to import."""

    def make(name: str) -> tuple[Any, str]:
        manifest, code = _real(name)
        return manifest, f"import time\n\ntime.sleep({seconds})\n{code}"

    return make


def make_folders(root: Path, make: Make, count: int) -> None:
    """Write ``count`` tool folders into the directory."""
    for index in range(count):
        name = f"tool_{index:05}"
        folder = root / name
        folder.mkdir(parents=True)
        manifest, code = make(name)
        (folder / f"{name}.json").write_text(json.dumps(manifest, indent=2), encoding="utf-8")
        (folder / f"{name}.py").write_text(code, encoding="utf-8")
