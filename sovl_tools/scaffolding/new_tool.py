"""New tools: the manifest for a function, the files of the folder, a sample call."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType, NoneType
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
from sovl_tools.model.document import JSON, JSON_TYPES, Path, copied, dotted
from sovl_tools.model.folder import name_problem
from sovl_tools.model.suggestion import did_you_mean
from sovl_tools.scaffolding.files import EDITOR_SCHEMA
from sovl_tools.scaffolding.jsonedit import render_json
from sovl_tools.scaffolding.patch import insert, overwrite
from sovl_tools.schema.applicators import alternatives_of, values_of
from sovl_tools.schema.engine import compile_schema
from sovl_tools.schema.problem import describe
from sovl_tools.schema.subschemas import SchemaNode, follow, nodes
from sovl_tools.signature.agreement import PARAMETERS

HEAD: Mapping[str, JSON] = MappingProxyType({"$schema": f"../{EDITOR_SCHEMA}"})
"""What new manifests begin with, so that editors complete and check them."""


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

_NAMES = {**{name: name for name in PYTHON}, **{own: name for name, own in PYTHON.items()}}
_MOMENTS = {
    "date": ("date", "date"),
    "datetime": ("date-time", "datetime"),
    "time": ("time", "time"),
}
"""Types that are strings of a format, which a function gets as instances: format and class."""
_FORM = re.compile(
    r"(?P<name>[^:=?]+):(?P<type>[^=?(]*(?:\(.*?\)|\([^=]*)?)(?P<optional>\?)?(?:=(?P<default>.*))?",
    re.DOTALL,
)
_OF_OTHERS = re.compile(r"\s*(?P<type>\w+)\s*\((?P<inner>.*)\)\s*", re.DOTALL)
_WIDTH = 88


class NewParameter(NamedTuple):
    """A parameter of a tool that does not exist yet.

    Attributes:
        name: an ASCII identifier.
        type: a JSON type.
        is_required: whether each call must pass it.
        default: its default; None without one.
        said: what its schema says beyond the type.
        annotation: its type in Python; "" for that of the JSON type.
    """

    name: str
    type: str
    is_required: bool = True
    default: JSON = None
    said: Mapping[str, JSON] = MappingProxyType({})
    annotation: str = ""

    @property
    def schema(self) -> dict[str, JSON]:
        """The schema of its values."""
        return {"type": self.type, **self.said}


def parameter(text: str) -> NewParameter:
    """Return the parameter that ``NAME:TYPE``, ``NAME:TYPE?`` or ``NAME:TYPE=DEFAULT`` means.

    Raises:
        ValueError: the text has another form; the message has the right one.
    """
    found = _FORM.fullmatch(text)
    if found is None:
        raise ValueError(f"{text!r} is not NAME:TYPE; write for example city:string")
    name = found["name"]
    reason = name_problem(name)
    if reason is not None:
        raise ValueError(f"{name!r} can't name a parameter: {reason}")
    made = _of_type(found["type"])._replace(name=name)
    default = None if found["default"] is None else _default(made, found["default"])
    is_required = default is None and not found["optional"]
    return made._replace(is_required=is_required, default=default)


def _of_type(text: str) -> NewParameter:
    """Return a nameless parameter of a type: ``string``, ``date``, ``enum(a,b)``, ``array(date)``.

    Raises:
        ValueError: there's no such type.
    """
    plain, compound = text.strip(), _OF_OTHERS.fullmatch(text)
    if plain in _NAMES:
        return NewParameter("", _NAMES[plain])
    if plain in _MOMENTS:
        schema_format, annotation = _MOMENTS[plain]
        return NewParameter("", "string", said={"format": schema_format}, annotation=annotation)
    head = compound["type"] if compound else plain.partition("(")[0]
    if compound and head == "enum":
        return _enum(compound["inner"])
    if compound and _NAMES.get(head) == "array" and compound["inner"].strip():
        item = _of_type(compound["inner"])
        annotation = f"list[{item.annotation or PYTHON[item.type]}]"
        return NewParameter("", "array", said={"items": item.schema}, annotation=annotation)
    types = f"the types are {', '.join([*PYTHON, *_MOMENTS])}, enum(A,B) and array(TYPE)"
    hint = did_you_mean(head, {*_NAMES, *_MOMENTS} - {"array"}) or types
    raise ValueError(f"{plain!r} isn't a type of a parameter; {hint}")


def _enum(text: str) -> NewParameter:
    """Return a nameless parameter with a few values: integers if all are, or else strings."""
    texts = [each.strip() for each in text.split(",")]
    if not all(texts):
        raise ValueError(f"a value is missing in enum({text}); write enum(celsius,fahrenheit)")
    if len({*texts}) < len(texts):
        raise ValueError(f"enum({text}) repeats a value")
    are_integers = all(re.fullmatch(r"0|-?[1-9][0-9]{0,17}", each) for each in texts)
    values: list[JSON] = [int(each) for each in texts] if are_integers else [*texts]
    annotation = f"Literal[{', '.join(map(literal, values))}]"
    type_ = "integer" if are_integers else "string"
    return NewParameter("", type_, said={"enum": values}, annotation=annotation)


def _default(made: NewParameter, text: str) -> JSON:
    """Read the default of a parameter: strings as written, everything else as JSON."""
    value: JSON = text
    if made.type != "string":
        spelt_in_python = {"True": "true", "False": "false"}
        try:
            value = json.loads(spelt_in_python.get(text, text))
            json.dumps(value, allow_nan=False)
        except (ValueError, RecursionError):
            message = f"the default {text!r} is not JSON, as {made.type!r} must be"
            raise ValueError(message) from None
    if value is None:
        raise ValueError("the default is null; write NAME:TYPE? for what can be omitted")
    for problem in compile_schema(made.schema, with_formats=True).problems(value):
        place = f", at {dotted(problem.path)}," if problem.path else ""
        raise ValueError(f"the default {text!r}{place} {describe(problem)}")
    # 2.0 is an integer to JSON Schema, but would be odd as a default in Python.
    return int(value) if made.type == "integer" else value


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
        said |= {**each.said, **({"default": each.default} if each.default is not None else {})}
        properties[each.name] = said
    schema: dict[str, JSON] = {
        "type": "object",
        "properties": properties,
        "required": [each.name for each in ordered if each.is_required],
    }
    document: dict[str, JSON] = {**HEAD, "name": name, "description": purpose, "parameters": schema}
    declared = []
    for each in ordered:
        annotation, default = each.annotation or PYTHON[each.type], each.default
        if each.is_required:
            declared.append(f"{each.name}: {annotation}")
        elif default is None or isinstance(default, list | dict) or "format" in each.said:
            # calls would share a list; the manifest's default becomes an instance at each call
            declared.append(f"{each.name}: {annotation} | None = None")
        else:
            declared.append(f"{each.name}: {annotation} = {literal(default)}")
    arguments = ", ".join(f'"{each.name}": {each.name}' for each in ordered)
    head = function_head(name, declared, returns="dict", is_async=is_async)
    source = f"{_imports(ordered)}{head}\n{docstring(purpose)}    return {{{arguments}}}\n"
    return NewTool(name, document, source)


def _imports(parameters: Sequence[NewParameter]) -> str:
    """Return the imports of the names in annotations, and the blank lines after them."""
    annotations = [each.annotation.partition("Literal[") for each in parameters]
    used = {name for each, _, _ in annotations for name in re.findall(r"\w+", each)}
    moments = ", ".join(own for _, own in sorted(_MOMENTS.values()) if own in used)
    lines = f"from datetime import {moments}\n" if moments else ""
    if any(is_literal for _, is_literal, _ in annotations):
        lines += "from typing import Literal\n"
    return f"{lines}\n\n" if lines else ""


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
    left_out = [f"{name!r} is omitted: {each.message}" for name, each in omissible.items()]
    notes = (*left_out, *spec.notes, *spec.undescribed(spec.names))
    document = {**HEAD, **manifest_of(name, spec, description=description)}
    return NewTool(name, document, source, notes)


_DEEPEST = 8
_FORMATS = {
    "date": "2026-01-31",
    "date-time": "2026-01-31T12:00:00Z",
    "time": "12:00:00Z",
    "email": "name@example.com",
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
    """Return a typical value of a schema."""
    found = follow(schema, root)
    if not isinstance(found, dict) or depth > _DEEPEST:
        return "text"
    listed = [*(values_of(found) or ()), *found.get("examples", ())]
    if listed:
        return listed[0]
    first = alternatives_of(found)[0]
    if first is not found:
        return sample(first, root, depth + 1)
    said = found.get("type", "string")
    value: JSON = _FORMATS.get(found.get("format", ""), "text")
    # null is valid for an optional value, but isn't a useful sample
    match min([said] if isinstance(said, str) else said, key=lambda each: each == "null"):
        case "integer" | "number" as type_:
            value = found.get("minimum", 1 if type_ == "integer" else 1.5)
        case "boolean":
            value = True
        case "array":
            items = found.get("prefixItems") or [found.get("items", {})] * found.get("minItems", 0)
            value = [sample(each, root, depth + 1) for each in items]
        case "object":
            properties, names = found.get("properties", {}), found.get("required", ())
            value = {name: sample(properties.get(name, {}), root, depth + 1) for name in names}
        case "null":
            value = None
    return value
