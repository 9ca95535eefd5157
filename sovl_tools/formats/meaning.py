"""What schemas say: in words for a model, and about null.

A keyword that a provider does not take goes into the description instead. Values are written as
JSON, since that is how the model writes its arguments.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sovl_tools.annotations.jsonvalues import text_of
from sovl_tools.model.document import JSON
from sovl_tools.schema.keywords import SILENT


def note(keyword: str, value: JSON) -> str:
    """Return one sentence for a keyword: ``At least 1.`` for ``minimum`` 1.

    Schemas in the value, and the value of an unknown keyword, are compact JSON.
    """
    if isinstance(value, bool) and (keyword, value) in _SWITCHED:
        return _SWITCHED[keyword, value]
    if keyword in _COUNTED:
        bound, noun, nouns = _COUNTED[keyword]
        return f"{bound} {text_of(value)} {noun if value == 1 else nouns}."
    if isinstance(value, list) and keyword == "type":
        text = " or ".join(value)
    elif isinstance(value, list) and keyword in _WORDS:
        text = ", ".join(map(text_of, value))
    else:
        text = value if keyword in _UNQUOTED else text_of(value)
    return f"{_WORDS[keyword].format(text) if keyword in _WORDS else f'{keyword}: {text}'}."


_WORDS = {
    "title": "Title: {}",
    "type": "Of type {}",
    "format": "Format: {}",
    "pattern": "Matches the regular expression `{}`",
    "const": "Must be {}",
    "default": "Default: {}",
    "enum": "One of: {}",
    "examples": "Examples: {}",
    "minimum": "At least {}",
    "maximum": "At most {}",
    "exclusiveMinimum": "Greater than {}",
    "exclusiveMaximum": "Less than {}",
    "multipleOf": "A multiple of {}",
    "items": "Each item matches {}",
    "prefixItems": "The first items match, in this order: {}",
    "contains": "Some item matches {}",
    "required": "Required: {}",
    "additionalProperties": "Each other property matches {}",
    "patternProperties": "Properties by a pattern of their names: {}",
    "propertyNames": "Each property's name matches {}",
    "allOf": "Fits all of: {}",
    "anyOf": "Fits at least one of: {}",
    "oneOf": "Fits exactly one of: {}",
    "not": "Must not match {}",
    "if": "The condition is that it matches {}",
    "then": "If the condition is met, it matches {}",
    "else": "If the condition is not met, it matches {}",
    "$ref": "As defined at {}",
}
_UNQUOTED = frozenset({"title", "type", "format", "pattern"})
_COUNTED = {
    "minLength": ("At least", "character", "characters"),
    "maxLength": ("At most", "character", "characters"),
    "minItems": ("At least", "item", "items"),
    "maxItems": ("At most", "item", "items"),
    "minProperties": ("At least", "property", "properties"),
    "maxProperties": ("At most", "property", "properties"),
}
_SWITCHED = {
    ("uniqueItems", True): "No two items are equal.",
    ("deprecated", True): "Deprecated.",
    ("items", False): "No other items.",
    ("unevaluatedItems", False): "No other items.",
    ("additionalProperties", False): "No other properties.",
    ("additionalProperties", True): "Other properties are allowed.",
    ("unevaluatedProperties", False): "No other properties.",
}


def with_notes(schema: dict[str, JSON], notes: Sequence[str]) -> dict[str, JSON]:
    """Return a schema with sentences after its description, each once."""
    if not notes:
        return schema
    text = " ".join(dict.fromkeys(notes))
    written = schema.get("description")
    if isinstance(written, str) and written.strip():
        text = f"{written.rstrip()}\n\n{text}"
    return {**schema, "description": text}


_SILENT = SILENT | {"discriminator", "externalDocs", "xml"}
_DEFINITION = "#/$defs/"
# values that make a keyword redundant, so that omitting it is no loss
_IDLE: dict[str, JSON] = {
    "uniqueItems": False, "minItems": 0, "minLength": 0, "minProperties": 0, "deprecated": False,
    "readOnly": False, "writeOnly": False, "required": [], "examples": [], "patternProperties": {},
}  # fmt: skip


def is_idle(keyword: str, value: JSON) -> bool:
    """Return whether a keyword's value makes it redundant."""
    return keyword in _IDLE and _IDLE[keyword] == value and type(_IDLE[keyword]) is type(value)


def is_silent(keyword: str) -> bool:
    """Return whether a keyword has no meaning for values, to a model or a validator."""
    return keyword in _SILENT or keyword.startswith("x-")


def accepts_null(
    schema: dict[str, JSON], definitions: Mapping[str, JSON], seen: tuple[str, ...] = ()
) -> bool:
    """Return whether a strict schema admits null; ``seen`` are references on the way to it."""
    while "$ref" in schema:
        reference: str = schema["$ref"]
        if reference in seen or reference == "#":
            return False
        seen = (*seen, reference)
        schema = definitions[reference.removeprefix(_DEFINITION)]
    if "anyOf" in schema:
        return any(accepts_null(each, definitions, seen) for each in schema["anyOf"])
    types = schema["type"]
    if "null" not in (types if isinstance(types, list) else [types]):
        return False
    values = [schema["const"]] if "const" in schema else schema.get("enum", [None])
    return None in values
