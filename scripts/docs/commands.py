"""Usage, help, options and exit codes of a command in Markdown, from the command itself."""

from __future__ import annotations

import re
from inspect import cleandoc

import click

from sovl_tools.cli.main import GROUPS, group

SHARED = {"tools": "--tools", "help": "--help"}
"""Options that the index of commands explains, by the names of their parameters."""


def index() -> str:
    """Return a table of all commands."""
    lines = ["| command | |", "|---|---|"]
    for title, commands in GROUPS.items():
        lines.append(f"| **{title}** | |")
        lines += [f"| [{name}]({name}.md) | {line} |" for name, (_, line) in commands.items()]
    return "\n".join(lines)


def section(name: str) -> str:
    """Return the Markdown for a command."""
    context = click.Context(group, info_name="sovl-tools", terminal_width=100)
    command = group.get_command(context, name)
    assert command is not None
    return "\n\n".join(_blocks(command, context))


def _blocks(command: click.Command, parent: click.Context) -> list[str]:
    """Return the paragraphs for a command, or for a group and each of its commands."""
    own = click.Context(command, parent=parent, info_name=command.name)
    usage = " ".join([own.command_path, *command.collect_usage_pieces(own)])
    blocks = [
        f"```text\n{usage}\n```",
        cleandoc(command.help or "").replace("\b\n", ""),
        "\n".join(_options(command, own)),
        "\n".join(_exits(command)),
    ]
    if isinstance(command, click.Group):
        for name in command.list_commands(own):
            each = command.get_command(own, name)
            assert each is not None
            blocks += [f"## {command.name} {name}", *_blocks(each, own)]
    return [block for block in blocks if block]


def _options(command: click.Command, context: click.Context) -> list[str]:
    """Return a line for each option, and one for those that the index explains."""
    shared = [SHARED[each.name] for each in command.params if each.name in SHARED]
    names = ", ".join(f"`{each}`" for each in shared)
    lines = [f"- {names}: as for [every command](index.md)"] if shared else []
    for each in command.params:
        record = each.get_help_record(context)
        if isinstance(each, click.Option) and record is not None and each.name not in SHARED:
            lines.append(f"- `{record[0]}`: {re.sub('  +', ' ', record[1])}")
    return lines


def _exits(command: click.Command) -> list[str]:
    exits: dict[int, str] = getattr(command, "exits", {})
    return [f"- Exit code {code}: {words}" for code, words in exits.items()]
