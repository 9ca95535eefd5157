"""What the provider ``local`` says."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from sovl_tools.agent.answer import Message
from sovl_tools.agent.blocks import as_one_text
from sovl_tools.agent.form import Form
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.document import JSON
from sovl_tools.validation.wording import one_of, shown

_MOST_TOOLS = 20
_NEAREST = 5
_MOST_CHOICES = 20
_MOST_WORDS = 100
_WIDTH = 80
_KINDS = {
    "string": "a text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "yes or no",
    "array": "a list, as JSON or with commas",
    "object": "a JSON object",
    "null": "null",
}


def introduction(form: Form) -> str:
    """Return which tool is proposed, what it does and what may be said beside."""
    lines = [f"{_titled(form.tool)}: {first_sentence(form.tool.description)}"]
    optional = [_optional(form, name) for name in form.properties if name not in form.required]
    if optional:
        lines.append(f"Optional, as key=value: {', '.join(optional)}.")
    return "\n".join(lines)


def _titled(tool: ToolDefinition) -> str:
    return f"{tool.name} ({tool.title})" if tool.title else tool.name


def first_sentence(text: str) -> str:
    """Return the first sentence of a description, in one line and not too long."""
    line = " ".join(text.split())
    end = line.find(". ")
    line = line if end < 0 else line[: end + 1]
    return line if len(line) <= _MOST_WORDS else f"{line[: _MOST_WORDS - 1]}…"


def _optional(form: Form, name: str) -> str:
    schema = form.schema(name)
    return f"{name} ({shown(schema['default'])} by default)" if "default" in schema else name


def question(form: Form, name: str) -> str:
    """Return the question for an argument: its kind, what it is, what there is to choose."""
    schema = form.schema(name)
    described = " ".join(str(schema.get("description") or schema.get("title") or "").split())
    facts = [_kind(schema)]
    if "default" in schema:
        facts.append(f"say default for {shown(schema['default'])}")
    known = "; ".join(fact for fact in facts if fact)
    return f"{name}{f' ({known})' if known else ''}: {described}".rstrip(": ") + _mark(described)


def _mark(described: str) -> str:
    return "" if described[-1:] in (".", "!", "?", "…") else "?"


def _kind(schema: dict[str, JSON]) -> str:
    options = schema.get("enum")
    if isinstance(options, list):
        listed = [_choice(each) for each in options[:_MOST_CHOICES]]
        more = len(options) - len(listed)
        return f"one of {', '.join(listed)}" + (f" and {more} more" if more > 0 else "")
    types = schema.get("type", [])
    kinds = [_KINDS[each] for each in ([types] if isinstance(types, str) else types)]
    return one_of(kinds) if kinds else ""


def _choice(value: JSON) -> str:
    return value if isinstance(value, str) and value.strip() == value != "" else shown(value)


def called(form: Form, arguments: dict[str, JSON]) -> str:
    """Return a call as one would write it."""
    return f"{form.name}({', '.join(f'{key}={shown(each)}' for key, each in arguments.items())})"


def overview(tools: Sequence[ToolDefinition]) -> str:
    """Return which tools there are and how to ask for one."""
    if not tools:
        return "There are no tools to call."
    lines = [_listed(tool) for tool in tools[:_MOST_TOOLS]]
    more = len(tools) - len(lines)
    lines += [f"- and {more} more"] if more > 0 else []
    return "\n".join(["These tools are here:", *lines, _advice(tools)])


def unfound(near: Sequence[ToolDefinition], tools: Sequence[ToolDefinition]) -> str:
    """Return that no tool is meant for what was said, and which ones there are."""
    if not tools:
        return overview(tools)
    head = "No tool fits that. " + ("The nearest are:" if near else "There are, for example:")
    lines = [_listed(tool) for tool in (near or tools)[:_NEAREST]]
    end = "Ask for one by its name, or in words of its description; help lists them all."
    return "\n".join([head, *lines, end])


def _listed(tool: ToolDefinition) -> str:
    """Return a tool as an item of a list."""
    return f"- {tool.name}: {first_sentence(tool.description)}"


def _advice(tools: Iterable[ToolDefinition]) -> str:
    phrase = next((tool.activation_phrases[0] for tool in tools if tool.activation_phrases), None)
    example = f', such as "{phrase}"' if phrase else ""
    return f"Say what is to be done{example}, or the name of a tool; I ask for what it needs."


def result(messages: Iterable[Message]) -> str:
    """Return what came of calls, for a reader."""
    return "\n".join(_readable(as_one_text(each["content"])) for each in messages) or "Done."


def _readable(text: str) -> str:
    """Return JSON that is too long for a line in several lines, and another text as it is."""
    if len(text) <= _WIDTH or text[0] not in "[{":
        return text or "Done, without a result."
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    is_ours = json.dumps(value, ensure_ascii=False) == text
    return json.dumps(value, ensure_ascii=False, indent=2) if is_ours else text
