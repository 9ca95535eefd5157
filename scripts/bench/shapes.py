"""Tool folders of the shapes that people write, for the benchmark of loading."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

from folders import RICH_CODE, real

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


def _eleven() -> Properties:
    return {f"value{index}": {"type": "string"} for index in range(11)}


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


def _without_descriptions(properties: Properties) -> Properties:
    return {
        name: {key: value for key, value in schema.items() if key != "description"}
        for name, schema in properties.items()
    }


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


def _flawed(name: str) -> tuple[Any, str]:
    manifest, code = tool_of(_plain())(name)
    if int(name[-1]) % 2:
        manifest["parameters"]["required"] = ["a", "bb"]
    return manifest, code


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


def _sixty() -> Properties:
    text = {"type": "string", "description": "A text."}
    return {f"value{index}": text for index in range(60)}


def _real(name: str) -> tuple[Any, str]:
    return real(name), RICH_CODE.format(name=name)


_KINDS: dict[str, Callable[[], Properties]] = {
    "plain": _plain,
    "optional": _optional,
    "referring": _referring,
    "nested": _nested,
}
SHAPES: dict[str, Make] = {
    **{name: tool_of(properties()) for name, properties in _KINDS.items()},
    "described": _with_keys,
    "real": _real,
    **{
        f"{name}, undescribed": tool_of(_without_descriptions(properties()))
        for name, properties in _KINDS.items()
    },
    "eleven warnings": tool_of(_eleven()),
    "decorated": tool_of(_plain(), _DECORATED),
    "documented": _documented,
    "thirty examples": _with_examples,
    "sixty parameters": tool_of(_sixty()),
    "every second flawed": _flawed,
}
"""What makes a tool, by the name of the shape."""


def make_folders(root: Path, make: Make, count: int) -> None:
    """Write ``count`` tool folders into the directory."""
    for index in range(count):
        name = f"tool_{index:05}"
        folder = root / name
        folder.mkdir(parents=True)
        manifest, code = make(name)
        (folder / f"{name}.json").write_text(json.dumps(manifest, indent=2), encoding="utf-8")
        (folder / f"{name}.py").write_text(code, encoding="utf-8")
