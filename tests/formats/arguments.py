"""Values that match a schema."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any, TypeAlias

from hypothesis import reject
from hypothesis import strategies as st
from jsonschema_rs import Draft202012Validator

from tests.formats.walking import resolved, types
from tests.schema import validators

Schema: TypeAlias = Any
ATTEMPTS = 6
DEEP = 3
TOO_DEEP = 12

_TYPES = ("string", "integer", "number", "boolean", "null", "array", "object")
_KEYWORDS = {
    "string": {"minLength", "maxLength", "pattern", "format"},
    "number": {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"},
    "array": {"items", "prefixItems", "contains", "minItems", "maxItems", "uniqueItems"},
    "object": {
        "properties", "required", "additionalProperties", "patternProperties", "minProperties",
        "maxProperties", "propertyNames", "dependentRequired", "unevaluatedProperties",
    },
}  # fmt: skip
_EXTRA = ("extra", "x_extra", "more")


class NoValueError(Exception):
    """Nothing matches, or at least nothing along this way."""


@st.composite
def arguments_for(draw: st.DrawFn, schema: Schema, *, is_open: bool = False) -> Any:
    """Return values that match a schema.

    Objects have properties that are not listed only where ``additionalProperties`` or
    ``patternProperties`` say that they may, even if they are required, or ``is_open`` wherever
    nothing forbids them. Where no type is named, one is taken that the other keywords speak of.
    """
    fits = validator(json.dumps(schema)).is_valid
    for _ in range(ATTEMPTS):
        try:
            value = _Maker(draw, schema, is_open=is_open).value([schema], 0)
        except NoValueError:
            continue
        if fits(value):
            return value
    return reject()


@lru_cache(maxsize=512)
def _matching(pattern: str) -> st.SearchStrategy[str]:
    return st.from_regex(pattern, alphabet=st.characters(min_codepoint=32, max_codepoint=126))


@lru_cache(maxsize=512)
def validator(text: str) -> Draft202012Validator:
    """Return the validator of a schema, given as JSON."""
    return validators.validator(json.loads(text))


class _Maker:
    """Makes values that match several schemas at once, as far as it sees."""

    def __init__(self, draw: st.DrawFn, root: Schema, *, is_open: bool) -> None:
        self._draw = draw
        self._is_open = is_open
        self._root = root

    def value(self, schemas: Iterable[Schema], depth: int) -> Any:
        if depth > TOO_DEEP:
            raise NoValueError
        parts = [part for schema in schemas for part in self._parts(schema, depth)]
        known = _every(parts, "enum") + [[each] for each in _every(parts, "const")]
        if known:
            return self._listed(known[0], parts)
        possible = _types(parts)
        if not possible:
            raise NoValueError
        kind = self._draw(st.sampled_from(possible)) if len(possible) > 1 else possible[0]
        return _BY_TYPE[kind](self, parts, depth)

    def _parts(self, schema: Schema, depth: int) -> Iterator[Schema]:
        """Yield the schemas that must fit if this one has, alternatives chosen."""
        if schema is False:
            raise NoValueError
        if schema is True:
            return
        yield schema
        for each in _every([schema], "$ref") + _every([schema], "$dynamicRef"):
            yield from self._parts(resolved(self._root, each), depth)
        for each in schema.get("allOf", ()):
            yield from self._parts(each, depth)
        for keyword in ("anyOf", "oneOf"):
            if keyword in schema:
                yield from self._parts(self._branch(schema[keyword], depth), depth)
        if "if" in schema:
            yield from self._condition(schema, depth)

    def _branch(self, branches: list[Schema], depth: int) -> Schema:
        if depth > DEEP:
            return min(branches, key=_weight)
        return self._draw(st.sampled_from(branches))

    def _condition(self, schema: Schema, depth: int) -> Iterator[Schema]:
        if self._draw(st.booleans()):
            yield from self._parts(schema["if"], depth)
            yield from self._parts(schema.get("then", True), depth)
        else:
            yield from self._parts(schema.get("else", True), depth)

    def _listed(self, known: list[Any], parts: list[Schema]) -> Any:
        plain = [
            {key: value for key, value in part.items() if key in ("type", "enum", "const")}
            for part in parts
        ]
        fitting = validator(json.dumps({"allOf": plain})).is_valid
        possible = [each for each in known if fitting(each)]
        if not possible:
            raise NoValueError
        return self._draw(st.sampled_from(possible))

    def text(self, parts: list[Schema], _: int) -> str:
        patterns = [part["pattern"] for part in parts if "pattern" in part]
        if patterns:
            return str(self._draw(_matching(patterns[0])))
        low = max(_every(parts, "minLength"), default=0)
        high = min(_every(parts, "maxLength"), default=low + 4)
        if high < low:
            raise NoValueError
        return self._draw(st.text("aé😀 b", min_size=low, max_size=high))

    def integer(self, parts: list[Schema], _: int) -> int:
        low, high = _bounds(parts)
        step = max(_every(parts, "multipleOf"), default=1)
        step = step if step == int(step) else 1
        first, last = math.ceil(low / step), math.floor(high / step)
        if first > last:
            raise NoValueError
        return int(self._draw(st.integers(first, last)) * step)

    def number(self, parts: list[Schema], depth: int) -> float:
        steps = _every(parts, "multipleOf")
        low, high = _bounds(parts)
        halves = self._draw(st.integers(math.ceil(low * 2), math.floor(high * 2))) / 2
        return self.integer(parts, depth) if steps and max(steps) >= 1 else halves

    def flag(self, _: list[Schema], __: int) -> bool:
        return self._draw(st.booleans())

    def null(self, _: list[Schema], __: int) -> None:
        return None

    def array(self, parts: list[Schema], depth: int) -> list[Any]:
        contained = _every(parts, "contains")
        low = max([1 if contained else 0, *_every(parts, "minItems")])
        high = min(_every(parts, "maxItems"), default=low + 2)
        if high < low:
            raise NoValueError
        found: list[Any] = []
        for index in range(low if depth > DEEP else self._draw(st.integers(low, high))):
            schemas = [_item(part, index) for part in parts] + (contained if index == 0 else [])
            try:
                found.append(self.value(schemas, depth + 1))
            except NoValueError:
                if len(found) < low:
                    raise
                break
        return found

    def object(self, parts: list[Schema], depth: int) -> dict[str, Any]:
        required = {name: 0 for part in parts for name in part.get("required", ())}
        known = {name: 0 for part in parts for name in part.get("properties", ())}
        if required.keys() - known.keys() and not self._extra(parts):
            raise NoValueError
        made = {name: self._property(name, parts, depth) for name in required}
        least = max(_every(parts, "minProperties"), default=0)
        for name in (*known, *self._extra(parts)):
            wanted = depth <= DEEP and self._draw(st.integers(0, 3)) > 0
            if name not in made and (wanted or len(made) < least):
                self._add(name, parts, made, depth)
        return self._closed(made, parts, depth)

    def _extra(self, parts: list[Schema]) -> tuple[str, ...]:
        """Return names that are not listed, if there can be such."""
        if self._is_open:
            return _EXTRA
        opening = ("additionalProperties", "patternProperties")
        return _EXTRA if any(part.get(each) for part in parts for each in opening) else ()

    def _add(self, name: str, parts: list[Schema], made: dict[str, Any], depth: int) -> None:
        try:
            made[name] = self._property(name, parts, depth)
        except NoValueError:
            return

    def _closed(self, made: dict[str, Any], parts: list[Schema], depth: int) -> dict[str, Any]:
        """Return an object with what its properties call for added."""
        calls = _every(parts, "dependentRequired")
        wanted = [each for call in calls for name in made for each in call.get(name, ())]
        missing = [name for name in wanted if name not in made]
        if not missing:
            return made
        added = {name: self._property(name, parts, depth) for name in missing}
        return self._closed({**made, **added}, parts, depth)

    def _property(self, name: str, parts: list[Schema], depth: int) -> Any:
        return self.value([each for part in parts for each in _properties(part, name)], depth + 1)


_BY_TYPE: dict[str, Any] = {
    "string": _Maker.text,
    "integer": _Maker.integer,
    "number": _Maker.number,
    "boolean": _Maker.flag,
    "null": _Maker.null,
    "array": _Maker.array,
    "object": _Maker.object,
}


def _types(parts: list[Schema]) -> list[str]:
    """Return the types that all schemas allow."""
    named = [{*types(part)} for part in parts if "type" in part]
    named = [each | {"integer"} if "number" in each else each for each in named]
    return [kind for kind in _TYPES if all(kind in each for each in named or [_suggested(parts)])]


def _suggested(parts: list[Schema]) -> set[str]:
    """Return the types that the keywords speak of, all if they speak of none."""
    keywords = {keyword for part in parts for keyword in part}
    return {kind for kind, own in _KEYWORDS.items() if own & keywords} or {*_TYPES}


def _every(parts: list[Schema], keyword: str) -> list[Any]:
    return [part[keyword] for part in parts if keyword in part]


def _weight(schema: Schema) -> tuple[bool, int]:
    text = json.dumps(schema)
    return "$ref" in text, len(text)


def _bounds(parts: list[Schema]) -> tuple[float, float]:
    lows = _every(parts, "minimum") + [each + 0.5 for each in _every(parts, "exclusiveMinimum")]
    highs = _every(parts, "maximum") + [each - 0.5 for each in _every(parts, "exclusiveMaximum")]
    low = max(lows, default=min(highs, default=20) - 20)
    high = min(highs, default=low + 20)
    if low > high:
        raise NoValueError
    return low, high


def _item(part: Schema, index: int) -> Schema:
    first = part.get("prefixItems", ())
    return first[index] if index < len(first) else part.get("items", True)


def _properties(part: Schema, name: str) -> Iterator[Schema]:
    patterns = part.get("patternProperties", {})
    fitting = [patterns[each] for each in patterns if re.search(each, name)]
    if name in part.get("properties", {}):
        fitting.append(part["properties"][name])
    yield from fitting or [part.get("additionalProperties", True)]
