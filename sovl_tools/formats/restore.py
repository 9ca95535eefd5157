"""Arguments of strict tools, brought back to what the manifest wants.

Where a provider wants every property to be required, an optional one may be null instead. Such a
null is taken out again before the tool is called.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from itertools import islice, product

from sovl_tools.formats.base import Compile
from sovl_tools.formats.meaning import accepts_null
from sovl_tools.formats.strict import Dialect, strict_subset
from sovl_tools.model.document import JSON
from sovl_tools.schema.subschemas import with_subschemas

# ways to read a value that are tried; their number doubles with each null that may mean itself
_MOST = 64


class Restore:
    """Takes nulls out of arguments that stand for properties left out.

    Where a null may stand for itself as well, or a value for several alternatives, the manifest
    decides: the first way to read the arguments that fits it is taken.
    """

    def __init__(self, parameters: dict[str, JSON], dialect: Dialect) -> None:
        self._parameters = parameters
        self._dialect = dialect
        self._checks: dict[int, Callable[[JSON], bool]] = {}

    def __call__(self, arguments: dict[str, JSON], compile_schema: Compile) -> dict[str, JSON]:
        """Return the arguments without such nulls; what does not fit the schema stays as it is."""
        ways: list[dict[str, JSON]] = self._ways(arguments, self._schema, compile_schema)
        if len(ways) == 1:
            return ways[0]
        if id(self) not in self._checks:
            self._checks[id(self)] = compile_schema(self._parameters)
        fits = self._checks[id(self)]
        return next((each for each in ways if fits(each)), ways[0])

    @cached_property
    def _schema(self) -> dict[str, JSON]:
        """The schema in the dialect, with optional properties."""
        return strict_subset(self._parameters, self._dialect).schema

    def _ways(self, value: JSON, schema: dict[str, JSON], compile_schema: Compile) -> list[JSON]:
        """Return the ways to read a value, the likeliest first."""
        while "$ref" in schema:
            name = schema["$ref"].removeprefix("#/$defs/")
            schema = self._schema if name == "#" else self._schema["$defs"][name]
        if not isinstance(value, dict | list):
            return [value]
        if "anyOf" in schema:
            return self._alternatives(value, schema["anyOf"], compile_schema)
        if isinstance(value, dict) and "properties" in schema:
            return self._ways_of_object(value, schema, compile_schema)
        if isinstance(value, list) and "items" in schema:
            items = (self._ways(each, schema["items"], compile_schema) for each in value)
            return [list(each) for each in islice(product(*items), _MOST)]
        return [value]

    def _ways_of_object(
        self, value: dict[str, JSON], schema: dict[str, JSON], compile_schema: Compile
    ) -> list[JSON]:
        members: list[list[tuple[tuple[str, JSON], ...]]] = []
        for name, each in value.items():
            known = schema["properties"].get(name)
            kept: list[tuple[tuple[str, JSON], ...]]
            if known is None or each is not None or name in schema["required"]:
                ways = [each] if known is None else self._ways(each, known, compile_schema)
                kept = [((name, way),) for way in ways]
            # here a null may be meant, or stand for nothing: both ways are tried
            elif accepts_null(known, self._schema.get("$defs", {})):
                kept = [((name, None),), ()]
            else:
                kept = [()]
            members.append(kept)
        found = islice(product(*members), _MOST)
        return [dict(pair for each in way for pair in each) for way in found]

    def _alternatives(
        self, value: JSON, branches: list[dict[str, JSON]], compile_schema: Compile
    ) -> list[JSON]:
        """Return the ways in which a value is one of the alternatives."""
        found: list[JSON] = []
        for branch in branches:
            ways = self._ways(value, branch, compile_schema)
            if len(branches) > 1:  # an anyOf of one, which wraps a reference, leaves no choice
                # The branches live as long as this does, so that nothing else gets their ids.
                if id(branch) not in self._checks:
                    whole = {**_rerooted(branch), "$defs": self._definitions()}
                    self._checks[id(branch)] = compile_schema(whole)
                ways = [*filter(self._checks[id(branch)], ways)]
            found += ways
        # not a set: values may be lists and objects
        different = [each for index, each in enumerate(found) if each not in found[:index]]
        return different[:_MOST] or [value]

    def _definitions(self) -> dict[str, JSON]:
        """Return all definitions, and the schema itself as one of them."""
        definitions = {**self._schema.get("$defs", {}), _ROOT: {**self._schema, "$defs": {}}}
        return {name: _rerooted(each) for name, each in definitions.items()}


_ROOT = "(root)"  # no name of a definition that anybody writes


def _rerooted(schema: JSON) -> JSON:
    """Return a schema that can stand in another one: ``#`` leads to a definition."""
    if not isinstance(schema, dict):  # that there are no other properties
        return schema
    if schema.get("$ref") == "#":
        return {**schema, "$ref": f"#/$defs/{_ROOT}"}
    return with_subschemas(schema, _rerooted)
