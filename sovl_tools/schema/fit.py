"""Does a value fit a schema? At once where that is plain, by the engine where it is not."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Collection, Iterator
from functools import lru_cache
from typing import NamedTuple

from sovl_tools.model.document import JSON, kind, pointer
from sovl_tools.model.errors import SchemaError
from sovl_tools.schema.engine import Problem, Validator, compile_schema
from sovl_tools.schema.subschemas import SchemaNode, lookup, nodes

_MAX_REFERENCES = 8
_EXACT = 1 << 53
"""Beyond this, engines may compare numbers as doubles."""

_LEFT_TO_THE_ENGINE = frozenset(
    {
        "$dynamicRef", "$id", "$schema", "$vocabulary", "if", "then", "else", "dependencies",
        "dependentSchemas", "dependentRequired", "patternProperties", "propertyNames", "contains",
        "prefixItems", "unevaluatedItems", "unevaluatedProperties",
    }
)  # fmt: skip
_LITERAL_FORMATS = {
    "date": r"[1-9]\d{3}-(0[1-9]|1[0-2])-(0[1-9]|1\d|2[0-8])",
    "email": r"[a-z0-9_]+(\.[a-z0-9_]+)*@[a-z0-9]+(\.[a-z0-9]+)+",
    "uuid": r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}",
}
"""What matches only texts that are in a format."""


def problems(node: SchemaNode, value: JSON) -> list[Problem]:
    """Return what the subschema refuses in the value."""
    if surely_fits(value, node.schema):
        return []
    try:
        return _validator(node).problems(value)
    except SchemaError:
        return []


def _validator(node: SchemaNode) -> Validator:
    """Compile the subschema, as a part of its root if it has references that lead there."""
    # A subschema alone compiles faster than the whole schema that it is from.
    if not any(_REFERENCES & part.schema.keys() for part in nodes(node.schema, ())):
        return compile_schema(node.schema)
    from urllib.parse import quote  # noqa: PLC0415 - 4 ms, for doubtful values only

    name = node.root.get("$id", "urn:root")
    place = quote(pointer(node.path[len(node.base) :]))
    root = {**node.root, "$id": name}
    return compile_schema({"$ref": f"{name}#{place}", "$defs": {"root": root}})


_REFERENCES = frozenset({"$ref", "$dynamicRef"})


def surely_fits(
    value: JSON, schema: JSON, root: JSON = None, *, with_formats: bool = False
) -> bool:
    """Tell whether the value certainly fits; False means only that the engine must be asked.

    Args:
        value: a JSON value.
        schema: it is valid; what is not looked at here is left to the engine.
        root: the schema in which references are followed; without one they are left to the engine.
        with_formats: texts must be in the format that they ought to have.
    """
    return _Fit(root, with_formats).fits(value, schema) is True


class _Fit(NamedTuple):
    """Tells whether values fit: True, False, or None where only an engine knows.

    Attributes:
        root: the schema in which references are followed, if any are.
        with_formats: whether texts must be in their format.
        followed: how many references have been followed on the way.
    """

    root: JSON
    with_formats: bool
    followed: int = 0

    def fits(self, value: JSON, schema: JSON) -> bool | None:
        """Return whether the value fits; None if only an engine knows."""
        if type(schema) is not dict:
            return schema if type(schema) is bool else None
        kind, is_plain = type(value), _SAYING.isdisjoint(schema)
        known = _KINDS.get(kind)
        # What a keyword not known here would say is left to the engine.
        if known is None or not (is_plain or _LEFT_TO_THE_ENGINE.isdisjoint(schema)):
            return None
        if "type" in schema:
            kinds = schema["type"]
            if kind is float and value.is_integer():
                known = _INTEGRAL
            if not (kinds in known if type(kinds) is str else any(k in known for k in kinds)):
                return False
        return True if is_plain else self._fits_more_than_type(value, schema)

    def _fits_more_than_type(self, value: JSON, schema: dict[str, JSON]) -> bool | None:
        verdict: bool | None = True
        check = _CHECKS.get(type(value))
        if check is not None:
            verdict = check(self, value, schema)
        if verdict is not False and not _ANYWHERE.isdisjoint(schema):
            for each in self._verdicts_for_any_type(value, schema):
                if each is False:
                    return False
                verdict = verdict if each else None
        return verdict

    def _verdicts_for_any_type(self, value: JSON, schema: dict[str, JSON]) -> Iterator[bool | None]:
        if "const" in schema:
            yield _equal(value, schema["const"])
        if "enum" in schema:
            yield _any(_equal(value, each) for each in schema["enum"])
        if "$ref" in schema:
            reference = schema["$ref"]
            # definitions that refer to one another could lead on for ever
            is_near = self.followed < _MAX_REFERENCES and reference[:2] == "#/"
            if (
                self.root is None
                or not is_near
                # it could lead to a place in a part that has a name of its own
                or any("$id" in part.schema for part in nodes(self.root, ()))
            ):
                yield None
            else:
                target = lookup(self.root, reference).target
                yield self._replace(followed=self.followed + 1).fits(value, target)
        for each in schema.get("allOf", ()):
            yield self.fits(value, each)
        if "anyOf" in schema:
            yield _any(self.fits(value, each) for each in schema["anyOf"])
        if "oneOf" in schema:
            # One doubt is enough: two of them could fit.
            found = [self.fits(value, each) for each in schema["oneOf"]]
            yield None if None in found else sum(map(bool, found)) == 1
        if "not" in schema:
            refused = self.fits(value, schema["not"])
            yield None if refused is None else not refused


def _any(verdicts: Iterator[bool | None]) -> bool | None:
    found = False
    for each in verdicts:
        if each:
            return True
        found = found or each is None
    return None if found else False


_INTEGRAL = ("integer", "number")
_KINDS: dict[type, tuple[str, ...]] = {
    str: ("string",),
    bool: ("boolean",),
    int: _INTEGRAL,
    float: ("number",),
    list: ("array",),
    dict: ("object",),
    type(None): ("null",),
}


def _equal(value: JSON, other: JSON) -> bool | None:
    """Compare as JSON does, where 1 is 1.0 and not true; most containers are left to the engine."""
    if isinstance(value, dict | list):
        if type(value) is not type(other):
            return False
        return True if repr(value) == repr(other) else None
    if isinstance(value, bool) or isinstance(other, bool):
        return value is other
    # Python compares such numbers exactly, an engine perhaps not.
    if isinstance(value, int | float) and abs(value) > _EXACT:
        return None
    return bool(value == other)


def _text_fits(fit: _Fit, value: str, schema: dict[str, JSON]) -> bool | None:
    if "minLength" in schema and len(value) < schema["minLength"]:
        return False
    if "maxLength" in schema and len(value) > schema["maxLength"]:
        return False
    if "pattern" in schema and not matches(schema["pattern"], value):
        return None
    if fit.with_formats and "format" in schema:
        # A text that does not match may be in the format all the same.
        literal = _LITERAL_FORMATS.get(schema["format"])
        return True if literal is not None and re.fullmatch(literal, value) else None
    return True


def _number_fits(_: _Fit, value: float, schema: dict[str, JSON]) -> bool | None:
    for keyword, holds in _BOUNDS:
        if keyword in schema:
            if abs(value) > _EXACT:
                return None
            if not holds(value, schema[keyword]):
                return False
    if "multipleOf" in schema:
        divisor = schema["multipleOf"]
        if type(value) is not int or type(divisor) is not int or abs(value) > _EXACT:
            return None  # it depends on how an engine calculates
        return value % divisor == 0
    return True


_BOUNDS: tuple[tuple[str, Callable[[float, float], bool]], ...] = (
    ("minimum", operator.ge),
    ("maximum", operator.le),
    ("exclusiveMinimum", operator.gt),
    ("exclusiveMaximum", operator.lt),
)


def _array_fits(fit: _Fit, value: list[JSON], schema: dict[str, JSON]) -> bool | None:
    length = len(value)
    if "minItems" in schema and length < schema["minItems"]:
        return False
    if "maxItems" in schema and length > schema["maxItems"]:
        return False
    verdict: bool | None = True
    if schema.get("uniqueItems") and length > 1:
        are_texts = all(type(each) is str for each in value)
        if are_texts and len({*value}) < length:
            return False
        # 1, 1.0 and true could be taken for one
        exact = are_texts or all(
            type(each) in (str, bool, type(None))
            or (type(each) in (int, float) and abs(each) < _EXACT)
            for each in value
        )
        verdict = True if exact and len({*value}) == length else None
    for item in value if "items" in schema else ():
        found = fit.fits(item, schema["items"])
        if not found:
            if found is False:
                return False
            verdict = None
    return verdict


def _object_fits(fit: _Fit, value: dict[str, JSON], schema: dict[str, JSON]) -> bool | None:
    for name in schema.get("required", ()):
        if name not in value:
            return False
    if "minProperties" in schema and len(value) < schema["minProperties"]:
        return False
    if "maxProperties" in schema and len(value) > schema["maxProperties"]:
        return False
    properties, others = schema.get("properties", {}), schema.get("additionalProperties", True)
    verdict: bool | None = True
    for name, item in value.items():
        found = fit.fits(item, properties.get(name, others))
        if not found:
            if found is False:
                return False
            verdict = None
    return verdict


_CHECKS: dict[type, Callable[[_Fit, JSON, dict[str, JSON]], bool | None]] = {
    str: _text_fits,
    int: _number_fits,
    float: _number_fits,
    list: _array_fits,
    dict: _object_fits,
}
_ANYWHERE = frozenset({"const", "enum", "$ref", "allOf", "anyOf", "oneOf", "not"})
_SAYING = frozenset(
    {
        *_LEFT_TO_THE_ENGINE, *_ANYWHERE, "minLength", "maxLength", "pattern", "format",
        "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minItems",
        "maxItems", "uniqueItems", "items", "required", "minProperties", "maxProperties",
        "properties", "additionalProperties",
    }
)  # fmt: skip
"""Keywords that say more of a value than its type."""


def compiles(pattern: str) -> bool:
    """Tell whether a pattern is a regular expression that the engine can use."""
    return _pattern_validator(pattern) is not None


def matches(pattern: str, text: str) -> bool:
    """Tell whether a pattern is found in a text, as the engine sees it."""
    validator = _pattern_validator(pattern)
    return validator is not None and validator(text)


@lru_cache(maxsize=1024)
def _pattern_validator(pattern: str) -> Callable[[JSON], bool] | None:
    try:
        return compile_schema({"pattern": pattern}).is_valid
    except SchemaError:
        return None


def has_type(value: JSON, types: Collection[str]) -> bool:
    """Tell whether a value is of one of the JSON Schema types."""
    name = kind(value)
    if name == "integer" or (name == "number" and float(value).is_integer()):
        return "integer" in types or "number" in types
    return name in types
