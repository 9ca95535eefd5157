"""New tools: the manifest for a function, the files of the folder, a sample call."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from types import NoneType
from typing import Any, NamedTuple

from sovl_tools.loading.function_spec import FunctionSpec, function_spec
from sovl_tools.loading.rules.description import DESCRIPTION_PLACEHOLDER, PROPERTY_PLACEHOLDER
from sovl_tools.loading.rules.schema import (
    default_on_required,
    invalid_default,
    lacks_description,
    missing_items,
    missing_type,
)
from sovl_tools.model.document import JSON, JSON_TYPES, Path, copied, kind
from sovl_tools.model.folder import name_problem
from sovl_tools.model.suggestion import did_you_mean
from sovl_tools.scaffolding.jsonedit import render_json
from sovl_tools.scaffolding.patch import insert, overwrite
from sovl_tools.schema.applicators import alternatives_of, values_of
from sovl_tools.schema.engine import compile_schema, problems_at
from sovl_tools.schema.subschemas import SchemaNode, follow, nodes
from sovl_tools.signature.agreement import PARAMETERS


def manifest_of(name: str, spec: FunctionSpec, *, description: str = "") -> dict[str, JSON]:
    """Return a function's manifest, with placeholders for missing descriptions."""
    parameters = complete({**spec.parameters, "properties": spec.properties}, PARAMETERS)
    title = {key: value for key, value in spec.fields.items() if key == "title"}
    return {
        "name": name,
        **title,
        "description": description
        or spec.documentation.description
        or description_placeholder(name),
        "parameters": parameters,
        **{key: value for key, value in spec.fields.items() if key not in title},
    }


def complete(
    schema: dict[str, JSON], base: Path, describe: Callable[[SchemaNode], str] | None = None
) -> dict[str, JSON]:
    """Return a schema with types, items and descriptions added, and without invalid defaults.

    ``describe`` returns the description of a property; without it, a placeholder is written.
    """
    found: dict[str, JSON] = copied(schema)
    for node in nodes(found, base):
        own = node.schema
        if any(invalid_default.check(node)) or any(default_on_required.check(node)):
            del own["default"]
        if any(missing_type.check(node)):
            types = ["string", "number", "boolean", "array", "object", "null"]
            overwrite(own, insert(own, "type", types, after=()))
        if any(missing_items.check(node)):
            overwrite(own, insert(own, "items", {}, after=("type",)))
        if lacks_description(node):
            text = property_placeholder(node.path[-1]) if describe is None else describe(node)
            overwrite(own, insert(own, "description", text, after=("$ref", "type")))
    return found


def description_placeholder(name: str) -> str:
    """Return a placeholder for a tool's description."""
    return DESCRIPTION_PLACEHOLDER.format(name)


def property_placeholder(name: object) -> str:
    """Return a placeholder for a property's description."""
    return PROPERTY_PLACEHOLDER.format(name)


PYTHON = {name: each.__name__ for each, name in JSON_TYPES.items() if each is not NoneType}
"""The types of a parameter and their names in Python."""

_TYPES = {**{name: name for name in PYTHON}, **{own: name for name, own in PYTHON.items()}}
_FORM = re.compile(
    r"(?P<name>[^:=?]+):(?P<type>[^=?]*)(?P<optional>\?)?(?:=(?P<default>.*))?", re.DOTALL
)
_WIDTH = 88
_UNSEEN = r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029]"


class NewParameter(NamedTuple):
    """A parameter of a tool that does not exist yet.

    Attributes:
        name: an ASCII identifier.
        type: a JSON type.
        is_required: whether each call must pass it.
        default: its default; None without one.
    """

    name: str
    type: str
    is_required: bool = True
    default: JSON = None


def parameter(text: str) -> NewParameter:
    """Return the parameter that ``NAME:TYPE``, ``NAME:TYPE?`` or ``NAME:TYPE=DEFAULT`` means.

    Raises:
        ValueError: the text has another form; the message has the right one.
    """
    found = _FORM.fullmatch(text)
    if found is None:
        raise ValueError(f"{text!r} is not NAME:TYPE; write for example city:string")
    name, type_ = found["name"], _TYPES.get(found["type"])
    reason = name_problem(name)
    if reason is not None:
        raise ValueError(f"{name!r} can't name a parameter: {reason}")
    if type_ is None:
        hint = did_you_mean(found["type"], _TYPES) or f"the types are {', '.join(PYTHON)}"
        raise ValueError(f"{found['type']!r} is no type of a parameter; {hint}")
    default = None if found["default"] is None else _default(type_, found["default"])
    is_required = default is None and not found["optional"]
    return NewParameter(name, type_, is_required, default)


def _default(type_: str, text: str) -> JSON:
    """Read the default of a type: strings as written, everything else as JSON."""
    if type_ == "string":
        # a lone surrogate raises a ValueError here
        text.encode()
        return text
    spelt_in_python = {"True": "true", "False": "false"}
    try:
        value = json.loads(spelt_in_python.get(text, text))
        json.dumps(value, allow_nan=False)
    except (ValueError, RecursionError):
        raise ValueError(f"the default {text!r} is not JSON, as {type_!r} has to be") from None
    if value is None:
        raise ValueError("the default is null; write NAME:TYPE? for what may be left out")
    if not compile_schema({"type": type_}).is_valid(value):
        raise ValueError(f"the default {text} is {kind(value)!r}, but the type is {type_!r}")
    # 2.0 is an integer to JSON Schema, but would be odd as a default in Python.
    return int(value) if type_ == "integer" else value


class NewTool(NamedTuple):
    """A tool whose files aren't written yet.

    Attributes:
        name: the tool's name.
        document: its manifest.
        source: its module's text.
        notes: omissions in the manifest, with reasons.
    """

    name: str
    document: dict[str, JSON]
    source: str
    notes: tuple[str, ...] = ()

    @property
    def files(self) -> dict[str, bytes]:
        """The content of the folder by file name."""
        return {
            f"{self.name}.json": f"{render_json(self.document)}\n".encode(),
            f"{self.name}.py": self.source.encode(),
        }


def tool_of_parameters(
    name: str, parameters: Sequence[NewParameter], *, description: str = "", is_async: bool = False
) -> NewTool:
    """Return a tool whose function only returns its arguments."""
    # in Python, parameters without defaults come first
    ordered = sorted(parameters, key=lambda each: not each.is_required)
    purpose = description or description_placeholder(name)
    properties: dict[str, JSON] = {}
    for each in ordered:
        said: dict[str, JSON] = {"type": each.type, "description": property_placeholder(each.name)}
        said |= {"items": {}} if each.type == "array" else {}
        said |= {"default": each.default} if each.default is not None else {}
        properties[each.name] = said
    schema: dict[str, JSON] = {
        "type": "object",
        "properties": properties,
        "required": [each.name for each in ordered if each.is_required],
    }
    document: dict[str, JSON] = {"name": name, "description": purpose, "parameters": schema}
    declared = []
    for each in ordered:
        annotation, default = PYTHON[each.type], each.default
        if each.is_required:
            declared.append(f"{each.name}: {annotation}")
        elif default is None or isinstance(default, list | dict):  # calls would share a list
            declared.append(f"{each.name}: {annotation} | None = None")
        else:
            declared.append(f"{each.name}: {annotation} = {literal(default)}")
    arguments = ", ".join(f'"{each.name}": {each.name}' for each in ordered)
    head = function_head(name, declared, returns="dict", is_async=is_async)
    source = f"{head}\n{docstring(purpose)}    return {{{arguments}}}\n"
    return NewTool(name, document, source)


def literal(value: JSON) -> str:
    """Return a scalar as a Python literal, with double quotes and unescaped letters."""
    if isinstance(value, str) and value.isprintable():
        return json.dumps(value, ensure_ascii=False)
    return repr(value)


def function_head(
    name: str, parameters: Sequence[str], *, returns: str, is_async: bool = False
) -> str:
    """Return the first line, or lines, of a function."""
    start = f"{'async ' if is_async else ''}def {name}("
    head = f"{start}{', '.join(parameters)}) -> {returns}:"
    if len(head) <= _WIDTH:
        return head
    return "\n".join([start, *(f"    {each}," for each in parameters), f") -> {returns}:"])


def docstring(text: str) -> str:
    """Return the docstring of a function, with a line break at its end."""
    text = text.strip()
    body = text.removesuffix('"')
    escaped = body.replace("\\", "\\\\").replace('"""', r"\"\"\"")
    # Python rejects NUL, and the others are invisible
    escaped = re.sub(_UNSEEN, lambda found: found[0].encode("unicode_escape").decode(), escaped)
    # a quotation mark at the end would end the docstring
    if body != text:
        escaped += r"\""
    first, *others = escaped.split("\n")
    lines = [f'    """{first}', *(f"    {line}".rstrip() for line in others)]
    return "\n".join([*lines, '    """']) + "\n" if others else f'{lines[0]}"""\n'


def tool_of_function(
    name: str, function: Callable[..., Any], *, module: str, attribute: str, description: str = ""
) -> NewTool:
    """Return a tool that is a function of another module, which its own module imports.

    Raises:
        InferenceError: a parameter or an option of the function's decorator can't be written.
    """
    spec = function_spec(function)
    omissible = spec.omissible
    errors = [error for name, error in spec.errors.items() if name not in omissible]
    for error in (*errors, *spec.losses):
        raise error
    renamed = "" if attribute == name else f" as {name}"
    source = (
        f'"""The tool {name}: {attribute} of {module}."""\n\n'
        f'from {module} import {attribute}{renamed}\n\n__all__ = ["{name}"]\n'
    )
    left_out = [f"{name!r} is left out: {each.message}" for name, each in omissible.items()]
    notes = (*left_out, *spec.notes, *spec.undescribed(spec.names))
    return NewTool(name, manifest_of(name, spec, description=description), source, notes)


_DEEPEST = 8
_PLACE = "the sample of a call"  # not a name that people write
_FORMATS = {
    "date": "2026-01-31",
    "date-time": "2026-01-31T12:00:00Z",
    "time": "12:00:00Z",
    "duration": "P1D",
    "email": "name@example.com",
    "hostname": "example.com",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "uri": "https://example.com",
    "uuid": "00000000-0000-4000-8000-000000000000",
}


def sample_argument(parameters: dict[str, JSON], name: str) -> str:
    """Return a value for a property in the form of ``KEY=VALUE``: a plain string, or JSON."""
    schema = parameters["properties"][name]
    value = sample(schema, parameters)
    is_text = isinstance(schema, dict) and schema.get("type") == "string"
    return value if is_text else json.dumps(value, ensure_ascii=False)


def sample(schema: JSON, root: dict[str, JSON], depth: int = 0) -> JSON:
    """Return a value that a schema accepts, or at least a value of its type."""
    value: JSON = "text"
    found = follow(schema, root)
    if not isinstance(found, dict) or depth > _DEEPEST:
        return value
    # References in a part are followed from the root, so that it needs a place there.
    whole = {**root, "$defs": {**root.get("$defs", {}), _PLACE: found}}
    node = SchemaNode(("parameters", "$defs", _PLACE), found, whole, ("parameters",))
    for value in _values(found, root, depth):
        # other keywords can reject a guess
        if not problems_at(node, value):
            break
    return value


def _values(schema: dict[str, JSON], root: dict[str, JSON], depth: int) -> Iterator[JSON]:
    yield from values_of(schema) or ()
    yield from schema.get("examples", ())
    for each in alternatives_of(schema):
        if each is not schema:
            yield sample(each, root, depth + 1)
    said = schema.get("type", [])
    kinds = [said] if isinstance(said, str) else said
    # null is valid for an optional value, but isn't a useful sample
    for type_ in sorted(kinds, key=lambda type_: type_ == "null") or ["string"]:
        match type_:
            case "string":
                yield from _texts(schema)
            case "integer":
                yield from _numbers(schema, 1)
            case "number":
                yield from _numbers(schema, 1.5)
            case "boolean":
                yield True
            case "array":
                items = [sample(each, root, depth + 1) for each in schema.get("prefixItems", ())]
                count = min(schema.get("minItems", 0), _DEEPEST) - len(items)
                item = sample(schema.get("items", {}), root, depth + 1) if count > 0 else None
                yield [*items, *[item] * count]
            case "object":
                properties = schema.get("properties", {})
                yield {
                    name: sample(properties.get(name, {}), root, depth + 1)
                    for name in schema.get("required", ())
                }
            case _:
                yield None


def _texts(schema: dict[str, JSON]) -> Iterator[str]:
    text = _FORMATS.get(schema.get("format", ""), "text")
    yield text
    length = schema.get("minLength", len(text))
    yield (text * (length // len(text) + 1))[: max(length, schema.get("maxLength", 1))]
    yield text[: schema.get("maxLength", len(text))]
    yield "1"  # many a pattern takes a digit


def _numbers(schema: dict[str, JSON], first: float) -> Iterator[float]:
    yield first
    for key in ("minimum", "maximum", "multipleOf"):
        if key in schema:
            yield schema[key]
    if "exclusiveMinimum" in schema:
        yield schema["exclusiveMinimum"] + 1
    if "exclusiveMaximum" in schema:
        yield schema["exclusiveMaximum"] - 1
