"""The Python source of a tool that does not exist yet."""

from __future__ import annotations

import json
from collections.abc import Sequence

from sovl_tools.model.document import JSON
from sovl_tools.scaffolding.parameter import PYTHON, NewParameter

_WIDTH = 88


def source_of(
    name: str, parameters: Sequence[NewParameter], *, description: str, is_async: bool = False
) -> str:
    """Return a module whose function returns its arguments, until somebody writes another."""
    arguments = ", ".join(f'"{each.name}": {each.name}' for each in parameters)
    head = _head(name, [_declared(each) for each in parameters], is_async=is_async)
    return f"{head}\n{_docstring(description)}    return {{{arguments}}}\n"


def _head(name: str, parameters: Sequence[str], *, is_async: bool) -> str:
    start = f"{'async ' if is_async else ''}def {name}("
    line = f"{start}{', '.join(parameters)}) -> dict:"
    if len(line) <= _WIDTH:
        return line
    return "\n".join([start, *(f"    {each}," for each in parameters), ") -> dict:"])


def _declared(parameter: NewParameter) -> str:
    annotation = PYTHON[parameter.type]
    if parameter.is_required:
        return f"{parameter.name}: {annotation}"
    default = _literal(parameter.default)
    optional = " | None" if default == "None" else ""
    return f"{parameter.name}: {annotation}{optional} = {default}"


def _literal(value: JSON) -> str:
    """Return a default in Python: None for lists and dicts, which calls would share."""
    if isinstance(value, list | dict):
        return "None"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)


def _docstring(text: str) -> str:
    text = text.strip()
    body = text.removesuffix('"')
    escaped = body.replace("\\", "\\\\").replace('"""', r"\"\"\"")
    if body != text:
        escaped += r"\""
    first, *others = escaped.split("\n")
    lines = [f'    """{first}', *(f"    {line}".rstrip() for line in others)]
    return "\n".join([*lines, '    """']) + "\n" if others else f'{lines[0]}"""\n'


def import_of(name: str, module: str, function: str) -> str:
    """Return a module that has another one's function under the tool's name."""
    renamed = "" if function == name else f" as {name}"
    return (
        f'"""The tool {name}: {function} of {module}."""\n\n'
        f'from {module} import {function}{renamed}\n\n__all__ = ["{name}"]\n'
    )
