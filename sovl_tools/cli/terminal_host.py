"""The terminal as the host of calls: progress, messages, forms and approval."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from typing import Any, Self

import click

from sovl_tools.cli.arguments import parse_value
from sovl_tools.cli.output import show, wrapped
from sovl_tools.model.call import LogMessage, Progress
from sovl_tools.model.client_requests import Answer, Approval, ApprovalRequest, Question
from sovl_tools.model.document import JSON
from sovl_tools.model.errors import ElicitationError, ToolError
from sovl_tools.model.host import Host
from sovl_tools.reporting.text import cut, plain
from sovl_tools.schema.engine import problems_at
from sovl_tools.schema.problem import describe
from sovl_tools.schema.subschemas import SchemaNode

Prompt = Callable[[str], str]
"""Shows a prompt and returns the line that is typed; raises EOFError at Ctrl-D, ToolError
if the user can't be asked."""

_LONGEST = 200
_LONGEST_VALUE = 60
NOT_A_TERMINAL = "the user can't be asked, because the input isn't a terminal"


def terminal_host(reports: Reports) -> Host:
    """Return the host of a command: it shows events, and asks if the input is a terminal."""

    def elicit(question: Question) -> Answer:
        reports.end()
        return fill_form(question, _prompt)

    def approve(request: ApprovalRequest) -> Approval:
        reports.end()
        return approval(request, _prompt)

    return Host(on_event=reports.hear, on_elicit=elicit, on_approve=approve)


def _prompt(text: str) -> str:
    if sys.stdin is None or not sys.stdin.isatty():
        raise ToolError(NOT_A_TERMINAL)
    click.echo(text, err=True, nl=False)
    # not through sys.stdin, whose lock would outlive a call that Ctrl-C ends
    line = os.read(sys.stdin.fileno(), 1 << 16)
    if not line:
        click.echo(err=True)
        raise EOFError
    return line.decode(errors="replace").rstrip("\r\n")


class Reports:
    """Shows the progress and the messages of calls on the error output.

    Progress is one line that changes, on a terminal.
    """

    def __init__(self, *, is_quiet: bool = False) -> None:
        self._is_quiet = is_quiet
        self._is_begun = False

    def hear(self, event: Progress | LogMessage) -> None:
        """Show an event, in any thread."""
        if self._is_quiet:
            return
        text = plain(describe_event(event))
        if isinstance(event, Progress) and sys.stderr is not None and sys.stderr.isatty():
            width = os.get_terminal_size(sys.stderr.fileno()).columns
            sys.stderr.write(f"\r\x1b[K{cut(text, max(width - 1, 1))}")
            sys.stderr.flush()
            self._is_begun = True
            return
        self.end()
        show(text, err=True)

    def end(self) -> None:
        """End the line of a progress."""
        if self._is_begun:
            self._is_begun = False
            click.echo(err=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()


def describe_event(event: Progress | LogMessage) -> str:
    """Return a tool's message about a running call in one line."""
    if isinstance(event, LogMessage):
        return f"{event.tool}: {event.level}: {event.message}"
    share = "" if not event.total else f" of {event.total:g} ({event.done / event.total:.0%})"
    words = f": {event.message}" if event.message else ""
    return f"{event.tool}: {event.done:g}{share}{words}"


def describe_call(name: str, arguments: JSON) -> str:
    """Return a call with its arguments in one line: ``name(key=value)``."""
    if not isinstance(arguments, dict):
        return f"{name}({arguments})"
    return f"{name}({', '.join(f'{key}={_short(value)}' for key, value in arguments.items())})"


def _short(value: JSON) -> str:
    return cut(json.dumps(value, ensure_ascii=False, default=str), _LONGEST_VALUE)


def approval(request: ApprovalRequest, prompt: Prompt) -> Approval:
    """Ask the user about a call; Ctrl-D isn't a consent."""
    call = cut(plain(describe_call(request.tool, request.arguments)), _LONGEST)
    try:
        text = prompt(f"{wrapped(f'call {call}? [y/N], or always', head='')} ")
    except EOFError:
        return Approval(approved=False)
    except ToolError as error:
        return Approval(approved=False, reason=str(error))
    word = text.strip().casefold()
    return Approval(word in {"y", "yes", "a", "always"}, remember=word in {"a", "always"})


def fill_form(question: Question, prompt: Prompt) -> Answer:
    """Ask the user a tool's question, one property after the other; Ctrl-D cancels.

    Raises:
        ElicitationError: the user can't be asked.
    """
    show(plain(f"{question.tool}: {question.message}"), err=True)
    try:
        if question.url:
            return _confirmed(prompt(f"open {plain(question.url)}, then continue? [y/N] "))
        properties = question.schema.get("properties") or {}
        if not properties:
            return _confirmed(prompt("yes or no? [y/N] "))
        content = {}
        for name in properties:
            value = _field(question.schema, name, prompt)
            if value is not _LEFT_OUT:
                content[name] = value
    except EOFError:
        return Answer("cancel")
    except ToolError as error:
        raise ElicitationError(str(error)) from error
    return Answer("accept", content)


_LEFT_OUT = object()


def _confirmed(text: str) -> Answer:
    is_yes = text.strip().casefold() in {"y", "yes"}
    return Answer("accept", {}) if is_yes else Answer("decline")


def _field(form: dict[str, JSON], name: str, prompt: Prompt) -> Any:
    """Return the value of a property, once it is valid."""
    schema = form["properties"][name]
    is_required = name in form.get("required", ())
    node = SchemaNode(("properties", name), schema, form, ())
    choices = _choices(schema)
    hints = [f"{index}: {label}" for index, (_, label) in enumerate(choices, 1)]
    hints = hints or [str(schema.get("type", "any"))]
    if not is_required:
        hints.append("optional")
    head = plain(f"{schema.get('title') or name} ({', '.join(hints)})")
    if schema.get("description"):
        show(plain(f"  {schema['description']}"), err=True)
    default = f" [{_short(schema['default'])}]" if "default" in schema else ""
    while True:
        text = prompt(f"{head}{default}: ").strip()
        if not text and "default" in schema:
            return schema["default"]
        if not text and not is_required:
            return _LEFT_OUT
        value = _read(text, node, choices)
        problems = problems_at(node, value)
        if not problems:
            return value
        show(plain(f"  {describe(problems[0])}"), err=True)


def _choices(schema: dict[str, JSON]) -> list[tuple[JSON, str]]:
    """Return the values of an enum and their labels."""
    named = [
        (each["const"], str(each.get("title", each["const"])))
        for each in schema.get("oneOf", ())
        if isinstance(each, dict) and "const" in each
    ]
    return named or [(value, str(value)) for value in schema.get("enum", ())]


_YES_OR_NO = {"y": True, "yes": True, "n": False, "no": False}


def _read(text: str, node: SchemaNode, choices: list[tuple[JSON, str]]) -> JSON:
    """Return what a string says: the number or label of a choice, yes or no, a list, or a value."""
    schema = node.schema
    for index, (value, label) in enumerate(choices, 1):
        if text in {str(value), label, str(index)}:
            return value
    if schema.get("type") == "boolean":
        return _YES_OR_NO.get(text.casefold(), parse_value(text, node))
    if schema.get("type") == "array" and not text.startswith("["):
        return [each.strip() for each in text.split(",")]
    return parse_value(text, node)
