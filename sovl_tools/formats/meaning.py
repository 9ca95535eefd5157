"""What schemas say: in words for a model, and of null; and which exclude each other.

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
    said = f"{keyword}: {text_of(value)}."
    match value:
        case bool() if keyword in _SWITCHED:
            said = _SWITCHED[keyword][value]
        case int() | float() if keyword in _COUNTED:
            bound, noun, nouns = _COUNTED[keyword]
            said = f"{bound} {text_of(value)} {noun if value == 1 else nouns}."
        case str() if keyword in _PLAIN:
            said = _PLAIN[keyword].format(value)
            said = said if said.endswith((".", "!", "?")) else f"{said}."
        case list() if keyword == "type":
            said = f"Of type {' or '.join(map(str, value))}."
        case list() if keyword in _LISTED:
            said = f"{_LISTED[keyword]}: {', '.join(map(text_of, value)) or 'none'}."
        case dict() if keyword in _BY_PROPERTY:
            parts = (f"with {text_of(name)}: {text_of(each)}" for name, each in value.items())
            said = f"{_BY_PROPERTY[keyword]}, {'; '.join(parts) or 'nothing'}."
        case _ if keyword in _VALUED:
            said = f"{_VALUED[keyword]} {text_of(value)}."
    return said


def with_notes(schema: dict[str, JSON], notes: Sequence[str]) -> dict[str, JSON]:
    """Return a schema with sentences after its description, each once."""
    if not notes:
        return schema
    text = " ".join(dict.fromkeys(notes))
    written = schema.get("description")
    if isinstance(written, str) and written.strip():
        text = f"{written.rstrip()}\n\n{text}"
    return {**schema, "description": text}


_VALUED = {
    "const": "Must be",
    "default": "Default:",
    "minimum": "At least",
    "maximum": "At most",
    "exclusiveMinimum": "Greater than",
    "exclusiveMaximum": "Less than",
    "multipleOf": "A multiple of",
    "items": "Each item matches",
    "unevaluatedItems": "Each other item matches",
    "contains": "Some item matches",
    "properties": "Properties:",
    "additionalProperties": "Each other property matches",
    "unevaluatedProperties": "Each other property matches",
    "patternProperties": "Properties by a pattern of their names:",
    "propertyNames": "Each property's name matches",
    "contentSchema": "Decoded, it matches",
    "not": "Must not match",
    "if": "The condition is that it matches",
    "then": "If the condition is met, it matches",
    "else": "If the condition is not met, it matches",
    "$ref": "As defined at",
    "$dynamicRef": "As defined at",
}
_PLAIN = {
    "title": "Title: {}",
    "description": "{}",
    "type": "Of type {}",
    "format": "Format: {}",
    "pattern": "Matches the regular expression `{}`",
    "contentEncoding": "Encoded as {}",
    "contentMediaType": "Media type: {}",
}
_LISTED = {
    "enum": "One of",
    "examples": "Examples",
    "required": "Required",
    "prefixItems": "The first items match, in this order",
    "allOf": "Fits all of",
    "anyOf": "Fits at least one of",
    "oneOf": "Fits exactly one of",
}
_AT_LEAST, _AT_MOST = "At least", "At most"
# of ``minContains`` and ``maxContains``, which count the items that match ``contains``
_FITTING = ("item matches what is asked of some", "items match what is asked of some")
_COUNTED = {
    "minLength": (_AT_LEAST, "character", "characters"),
    "maxLength": (_AT_MOST, "character", "characters"),
    "minItems": (_AT_LEAST, "item", "items"),
    "maxItems": (_AT_MOST, "item", "items"),
    "minContains": (_AT_LEAST, *_FITTING),
    "maxContains": (_AT_MOST, *_FITTING),
    "minProperties": (_AT_LEAST, "property", "properties"),
    "maxProperties": (_AT_MOST, "property", "properties"),
}
_BY_PROPERTY = {"dependentRequired": "Required too", "dependentSchemas": "Fits"}
# for false, for true
_SWITCHED = {
    "uniqueItems": ("Items can be equal.", "No two items are equal."),
    "deprecated": ("Not deprecated.", "Deprecated."),
    "readOnly": ("Not read-only.", "Read-only."),
    "writeOnly": ("Not write-only.", "Write-only."),
    "items": ("No other items.", "Items of any kind."),
    "unevaluatedItems": ("No other items.", "Other items are allowed."),
    "additionalProperties": ("No other properties.", "Other properties are allowed."),
    "unevaluatedProperties": ("No other properties.", "Other properties are allowed."),
}


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


def are_disjoint(branches: Sequence[Mapping[str, JSON]]) -> bool:
    """Return whether alternatives certainly exclude each other.

    They do by their types, or by a property that is required and has another value in each.
    """
    types = [each.get("type") for each in branches]
    plain = {each for each in types if isinstance(each, str)}
    # every integer is a number
    if len(plain) == len(types) and not {"number", "integer"} <= plain:
        return True
    marks = [_marks(each) for each in branches]
    names = set(marks[0]).intersection(*marks[1:]) if marks else set()
    return any(len({each[name] for each in marks}) == len(marks) for name in names)


def _marks(schema: Mapping[str, JSON]) -> dict[str, str]:
    """Return the text that each required property of an object must be, where it is only one."""
    if schema.get("type") != "object":
        return {}
    properties = schema.get("properties", {})
    wanted = {name: properties.get(name) for name in schema.get("required", ())}
    values = {
        name: [each["const"]] if "const" in each else each.get("enum", ())
        for name, each in wanted.items()
        if isinstance(each, dict)
    }
    return {
        name: each[0] for name, each in values.items() if len(each) == 1 and type(each[0]) is str
    }
