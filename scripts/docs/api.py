"""The reference of the Python API in Markdown, from the docstrings of the public names."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import sovl_tools

LINE = 80
_SECTION = re.compile(r"^(Args|Attributes|Returns|Raises|Yields):$")
_ITEM = re.compile(r"^ {4}(?P<name>\*{0,2}[\w.]+): ")


def pages() -> dict[str, str]:
    """Return a page for each public name, by path."""
    return {f"reference/api/{name}.md": page(name) for name in sovl_tools.__all__}


def index() -> str:
    """Return a table of all public names."""
    lines = ["| name | |", "|---|---|"]
    for name in sovl_tools.__all__:
        summary = (inspect.getdoc(getattr(sovl_tools, name)) or "").partition("\n\n")[0]
        lines.append(f"| [`{name}`]({name}.md) | {' '.join(summary.replace('``', '`').split())} |")
    return "\n".join(lines)


def page(name: str) -> str:
    """Return the page of a public name."""
    thing = getattr(sovl_tools, name)
    blocks = [f"# {name}", *_signature(name, thing), markdown(inspect.getdoc(thing) or "")]
    if isinstance(thing, type) and not issubclass(thing, Exception):
        init = inspect.getdoc(thing.__init__)
        if init and init != inspect.getdoc(object.__init__):
            blocks.append(markdown(init))
        for member, value in _members(thing):
            blocks += [f"## {member}", *_signature(member, value)]
            blocks.append(markdown(inspect.getdoc(value) or ""))
    return "\n\n".join(block for block in blocks if block) + "\n"


def _members(cls: type) -> Iterator[tuple[str, Any]]:
    """Yield the public methods and properties of a class, bases of ours included."""
    for name in dict.fromkeys(each for base in cls.__mro__[:-1] for each in vars(base)):
        value = inspect.getattr_static(cls, name)
        if isinstance(value, staticmethod | classmethod):
            value = value.__func__
        is_shown = inspect.isfunction(value) or isinstance(value, property | cached_property)
        if is_shown and not name.startswith("_") and inspect.getdoc(value):
            yield name, value


def _signature(name: str, thing: Any) -> list[str]:
    """Return a block with the signature, or nothing for a property or an exception."""
    if isinstance(thing, property | cached_property):
        return []
    try:
        parts = inspect.signature(thing)
    except (TypeError, ValueError):
        return []
    shown: list[str] = []
    for each in parts.parameters.values():
        if each.kind is each.KEYWORD_ONLY and not any(word.startswith("*") for word in shown):
            shown.append("*")
        if each.name not in {"self", "cls"}:
            shown.append(str(each))
    returned = parts.return_annotation
    result = "" if returned in {parts.empty, "None"} else f" -> {returned}"
    line = f"{name}({', '.join(shown)}){result}"
    if len(line) > LINE:
        line = "\n".join([f"{name}(", *(f"    {each}," for each in shown), f"){result}"])
    line = line.replace("'", "")  # annotations are strings
    return [f"```python\n{line}\n```"]


def markdown(docstring: str) -> str:
    """Return a docstring in Google's style as Markdown: its sections become lists."""
    lines, heading = [], ""
    for line in docstring.replace("``", "`").split("\n"):
        if found := _SECTION.match(line):
            heading = found[1]
            lines += [f"**{heading}**", ""]
        elif heading and line and not line.startswith(" "):
            heading = ""
            lines.append(line)
        elif heading in {"Returns", "Yields"}:
            lines.append(line.strip())
        elif heading and (item := _ITEM.match(line)):
            lines.append(f"- `{item['name']}`: {line[item.end() :]}")
        else:
            lines.append(f"  {line.strip()}" if heading and line else line)
    return "\n".join(lines)
