"""Tool folders for imported definitions: names, manifests and modules."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from sovl_tools.annotations.docstrings import Documentation
from sovl_tools.formats.foreign import Definition, Flaw, ForeignTool, ProviderTool, in_words
from sovl_tools.loading.definitions import checked
from sovl_tools.loading.function_spec import FunctionSpec
from sovl_tools.loading.sources import MAX_MANIFEST_BYTES
from sovl_tools.model.content import cut_characters
from sovl_tools.model.document import JSON, copied, kind, value_at
from sovl_tools.model.folder import FIELDS, fit_names, fitting_name
from sovl_tools.scaffolding.new_tool import (
    PYTHON,
    NewTool,
    complete,
    description_placeholder,
    docstring,
    function_head,
    literal,
    manifest_of,
)
from sovl_tools.schema.applicators import kinds
from sovl_tools.schema.names import argument_names
from sovl_tools.schema.subschemas import SchemaNode, follow
from sovl_tools.signature.agreement import PARAMETERS
from sovl_tools.signature.signature import from_function

Write = Callable[[str, ForeignTool], str]
"""Returns the text of a tool's module, by the tool's name here."""

_LONGEST = 60


class ImportedTools(NamedTuple):
    """The tools made of definitions.

    Attributes:
        tools: the folders to write.
        flaws: the definitions that can't become tools, with reasons.
        notes: differences from the definitions.
    """

    tools: tuple[NewTool, ...]
    flaws: tuple[Flaw, ...]
    notes: tuple[str, ...]


def import_tools(definitions: Iterable[Definition], write: Write) -> ImportedTools:
    """Return folders for definitions, checked like the folders in a tools directory."""
    every = [*definitions]
    names = fit_names(each.name for each in every if isinstance(each, ForeignTool))
    flaws: list[Flaw] = []
    notes: list[str] = []
    tools: list[NewTool] = []
    for each in every:
        if isinstance(each, ProviderTool):
            notes.append(f"{_shown(each.name)} is omitted: the provider brings it")
            continue
        made: NewTool | Flaw
        if isinstance(each, Flaw):
            made = each
        else:
            name = next(names)
            made = new_tool(name, each, write)
            if each.unread:
                keys = ", ".join(map(repr, each.unread))
                notes.append(f"{_shown(each.name)}: {keys} is not supported, and omitted")
            if name != each.name:
                notes.append(f"{_shown(each.name)} is called {name!r} here")
        if isinstance(made, Flaw):
            flaws.append(made)
        else:
            tools.append(made)
    return ImportedTools(tuple(tools), tuple(flaws), tuple(notes))


def new_tool(name: str, tool: ForeignTool, write: Write) -> NewTool | Flaw:
    """Return the folder of one definition, or the first reason why it can't be a tool."""
    definition = tool.definition(name, _anything)
    for found in checked(definition, name).diagnostics:
        if found.severity == "error":
            return Flaw(tool.place, f"{_shown(tool.name)}: {found.message}")
    said = {key: getattr(definition, key) for key in FIELDS}
    fields = {
        key: list(value) if isinstance(value, tuple) else copied(value)
        for key, value in said.items()
        if value
    }
    if tool.output_schema:
        fields["output_schema"] = complete(tool.output_schema, ("output_schema",), _describe)
    text = tool.description if tool.description.strip() else ""
    spec = FunctionSpec(
        from_function(_anything),
        complete(tool.parameters, PARAMETERS, _describe),
        lambda: Documentation(text),
        fields=fields,
    )
    made = NewTool(name, manifest_of(name, spec), write(name, tool))
    size = len(made.files[f"{name}.json"])
    if size > MAX_MANIFEST_BYTES:
        words = f"its manifest would have {size:,} bytes, more than {MAX_MANIFEST_BYTES:,}"
        return Flaw(tool.place, f"{_shown(tool.name)}: {words}")
    return made


def _anything(**arguments: Any) -> Any:
    """Take the place of the function that isn't written yet."""


def _shown(name: str) -> str:
    return repr(cut_characters(name, _LONGEST))


def _describe(node: SchemaNode) -> str:
    """Return a description for a property that doesn't have one."""
    title = node.schema.get("title")
    is_text = isinstance(title, str) and bool(title.strip())
    return str(title) if is_text else in_words(str(node.path[-1]))


def stub(name: str, tool: ForeignTool) -> str:
    """Return a module whose function has the schema's parameters and raises NotImplementedError."""
    names = argument_names(tool.parameters)
    properties, required = names.places, names.required
    # a first parameter of these names would make it look like a method
    reserved = {"self", "cls"}
    named = [each for each in properties if fitting_name(each) == each]
    named = [each for each in named if each not in reserved and each[0] != "_"]
    declared = [
        _declaration(
            each,
            value_at(tool.parameters, properties[each]),
            tool.parameters,
            is_required=each in required,
        )
        for each in sorted(named, key=lambda each: each not in required)
    ]
    is_open = tool.parameters.get("additionalProperties", False) is not False
    if is_open or names.is_open or len(named) < len(properties):
        others = "others"
        while others in properties:
            others += "_"
        declared.append(f"**{others}: Any")
    import_ = "from typing import Any\n\n\n" if any("Any" in each for each in declared) else ""
    description = tool.description if tool.description.strip() else description_placeholder(name)
    head = function_head(name, declared, returns="object")
    words = f"{name} is imported, but not written yet: write its function in {name}.py"
    body = f'    raise NotImplementedError(\n        "{words}"\n    )\n'
    return f"{import_}{head}\n{docstring(description)}{body}"


def _declaration(name: str, schema: JSON, root: dict[str, JSON], *, is_required: bool) -> str:
    annotation = _annotation(schema, root)
    found = follow(schema, root)
    default = found.get("default") if isinstance(found, dict) else None
    if is_required:
        return f"{name}: {annotation}"
    if isinstance(default, bool | int | float | str) and kind(default) in PYTHON:
        return f"{name}: {annotation} = {literal(default)}"
    optional = annotation if "None" in annotation or annotation == "Any" else f"{annotation} | None"
    return f"{name}: {optional} = None"


def _annotation(schema: JSON, root: dict[str, JSON]) -> str:
    """Return the annotation of values that a schema admits, as far as Python's own types say it."""
    found = kinds(schema, root)
    if not found or found >= PYTHON.keys():
        return "Any"
    names = [own for each, own in PYTHON.items() if each in found]
    if "float" in names:
        names.remove("int")
    if "list" in names:
        target = follow(schema, root)
        items = target.get("items") if isinstance(target, dict) else None
        inner = _annotation(items, root) if isinstance(items, dict) and items else "Any"
        names[names.index("list")] = f"list[{inner}]" if inner in PYTHON.values() else "list"
    return " | ".join([*names, *(["None"] if "null" in found else [])])
