"""What schemas say: in words for a model, and of null; and which exclude each other.

A keyword that a provider does not take goes into the description instead. Values are written as
JSON, since that is how the model writes its arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from sovl_tools.annotations.jsonvalues import text_of
from sovl_tools.model.document import JSON
from sovl_tools.schema.keywords import SILENT


def note(keyword: str, value: JSON) -> str:
    """Return one sentence for a keyword: ``At least 1.`` for ``minimum`` 1.

    Schemas in the value, and the value of an unknown keyword, are compact JSON.
    """
    wording = _WORDINGS.get((keyword, type(value))) or _ANY_KIND.get(keyword)
    return wording(value) if wording else f"{keyword}: {text_of(value)}."


def with_notes(schema: dict[str, JSON], notes: Sequence[str]) -> dict[str, JSON]:
    """Return a schema with sentences after its description, each once."""
    if not notes:
        return schema
    text = " ".join(dict.fromkeys(notes))
    written = schema.get("description")
    if isinstance(written, str) and written.strip():
        text = f"{written.rstrip()}\n\n{text}"
    return {**schema, "description": text}


_Wording = Callable[[JSON], str]


def _valued(template: str) -> _Wording:
    return lambda value: template.format(text_of(value))


def _bare(template: str) -> _Wording:
    return template.format


def _listed(template: str) -> _Wording:
    return lambda values: template.format(", ".join(map(text_of, values)) or "none")


def _counted(wording: str, noun: str, nouns: str) -> _Wording:
    return lambda number: f"{wording} {text_of(number)} {noun if number == 1 else nouns}."


def _switched(keyword: str, off: str, on: str) -> dict[tuple[str, type], _Wording]:
    return {(keyword, bool): lambda value: on if value else off}


def _by_property(wording: str) -> _Wording:
    """Say something of each property that calls for something else."""

    def said(value: dict[str, JSON]) -> str:
        parts = (f"with {text_of(name)}: {text_of(each)}" for name, each in value.items())
        return f"{wording} {'; '.join(parts) or 'nothing'}."

    return said


def _closed(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else f"{text}."


_AT_LEAST, _AT_MOST = "At least", "At most"
_CHARACTERS = ("character", "characters")
_ITEMS = ("item", "items")
_PROPERTIES = ("property", "properties")
# of ``minContains`` and ``maxContains``, which count the items that match ``contains``
_FITTING = ("item matches what is asked of some", "items match what is asked of some")

_ANY_KIND: dict[str, _Wording] = {
    "const": _valued("Must be {}."),
    "default": _valued("Default: {}."),
    "minimum": _valued("At least {}."),
    "maximum": _valued("At most {}."),
    "exclusiveMinimum": _valued("Greater than {}."),
    "exclusiveMaximum": _valued("Less than {}."),
    "multipleOf": _valued("A multiple of {}."),
    "minLength": _counted(_AT_LEAST, *_CHARACTERS),
    "maxLength": _counted(_AT_MOST, *_CHARACTERS),
    "minItems": _counted(_AT_LEAST, *_ITEMS),
    "maxItems": _counted(_AT_MOST, *_ITEMS),
    "minContains": _counted(_AT_LEAST, *_FITTING),
    "maxContains": _counted(_AT_MOST, *_FITTING),
    "minProperties": _counted(_AT_LEAST, *_PROPERTIES),
    "maxProperties": _counted(_AT_MOST, *_PROPERTIES),
    "items": _valued("Each item matches {}."),
    "additionalItems": _valued("Each other item matches {}."),
    "unevaluatedItems": _valued("Each other item matches {}."),
    "contains": _valued("Some item matches {}."),
    "properties": _valued("Properties: {}."),
    "additionalProperties": _valued("Each other property matches {}."),
    "unevaluatedProperties": _valued("Each other property matches {}."),
    "patternProperties": _valued("Properties by a pattern of their names: {}."),
    "propertyNames": _valued("Each property's name matches {}."),
    "contentSchema": _valued("Decoded, it matches {}."),
    "not": _valued("Must not match {}."),
    "if": _valued("The condition is that it matches {}."),
    "then": _valued("If the condition is met, it matches {}."),
    "else": _valued("If the condition is not met, it matches {}."),
    "$ref": _valued("As defined at {}."),
    "$dynamicRef": _valued("As defined at {}."),
}

_WORDINGS: dict[tuple[str, type], _Wording] = {
    ("type", str): _bare("Of type {}."),
    ("type", list): lambda names: f"Of type {' or '.join(map(str, names))}.",
    ("title", str): lambda text: _closed(f"Title: {text}"),
    ("description", str): _closed,
    ("format", str): _bare("Format: {}."),
    ("pattern", str): _bare("Matches the regular expression `{}`."),
    ("contentEncoding", str): _bare("Encoded as {}."),
    ("contentMediaType", str): _bare("Media type: {}."),
    ("enum", list): _listed("One of: {}."),
    ("examples", list): _listed("Examples: {}."),
    ("required", list): _listed("Required: {}."),
    ("prefixItems", list): _listed("The first items match, in this order: {}."),
    ("items", list): _listed("The first items match, in this order: {}."),
    ("allOf", list): _listed("Fits all of: {}."),
    ("anyOf", list): _listed("Fits at least one of: {}."),
    ("oneOf", list): _listed("Fits exactly one of: {}."),
    ("not", dict): lambda value: (
        f"Must not match {text_of(value)}." if value else "No value matches."
    ),
    ("dependentRequired", dict): _by_property("Required too,"),
    ("dependentSchemas", dict): _by_property("Fits,"),
    ("dependencies", dict): _by_property("Asks for,"),
    **_switched("uniqueItems", off="Items can be equal.", on="No two items are equal."),
    **_switched("deprecated", off="Not deprecated.", on="Deprecated."),
    **_switched("readOnly", off="Not read-only.", on="Read-only."),
    **_switched("writeOnly", off="Not write-only.", on="Write-only."),
    **_switched("nullable", off="Not null.", on="May be null."),
    **_switched("items", off="No other items.", on="Items of any kind."),
    **_switched("additionalItems", off="No other items.", on="Other items are allowed."),
    **_switched("unevaluatedItems", off="No other items.", on="Other items are allowed."),
    **_switched(
        "additionalProperties", off="No other properties.", on="Other properties are allowed."
    ),
    **_switched(
        "unevaluatedProperties", off="No other properties.", on="Other properties are allowed."
    ),
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
