"""What the commands' own help says, as the sections of ``docs/commands.md``.

Between the marks of a command stand its help, its options and its exit codes. What stands outside
of marks is written by hand, with examples that tests run.

    python scripts/docs/commands.py
"""

from __future__ import annotations

import re
from inspect import cleandoc
from pathlib import Path

import click

from sovl_tools.cli.main import COMMANDS, group

PAGE = Path(__file__).parents[2] / "docs" / "commands.md"
SHARED = {"tools": "--tools", "entry_points": "--no-entry-points", "help": "--help"}
"""Options that the page explains once, by the names of their parameters."""

_MARKED = re.compile(
    r"(?P<begin><!-- help:(?P<name>[\w-]+) -->\n).*?(?P<end><!-- end -->\n)", re.DOTALL
)


def rewritten(text: str) -> str:
    """Return the page with the help of today between its marks."""
    return _MARKED.sub(lambda found: found["begin"] + section(found["name"]) + found["end"], text)


def marked(text: str) -> list[str]:
    """Return the names of the commands that have marks in the page."""
    return [found["name"] for found in _MARKED.finditer(text)]


def section(name: str) -> str:
    """Return what the page says of a command."""
    context = click.Context(group, info_name="sovl-tools", terminal_width=100)
    command = group.get_command(context, name)
    assert command is not None
    return "".join(f"\n{each}\n" for each in _blocks(command, context)) + "\n"


def _blocks(command: click.Command, parent: click.Context) -> list[str]:
    """Return the paragraphs of a command, or of a group and each of its commands."""
    own = click.Context(command, parent=parent, info_name=command.name)
    usage = " ".join([own.command_path, *command.collect_usage_pieces(own)])
    blocks = [
        f"`{usage}`",
        cleandoc(command.help or ""),
        "\n".join(_options(command, own)),
        "\n".join(_exits(command)),
    ]
    if isinstance(command, click.Group):
        for each in (command.get_command(own, name) for name in command.list_commands(own)):
            blocks += [] if each is None else _blocks(each, own)
    return [block for block in blocks if block]


def _options(command: click.Command, context: click.Context) -> list[str]:
    """Return a line for each option, and one that names those that the page explains once."""
    shared = [SHARED[each.name] for each in command.params if each.name in SHARED]
    lines = [f"- {', '.join(f'`{each}`' for each in shared)}"] if shared else []
    for each in command.params:
        record = each.get_help_record(context)
        if isinstance(each, click.Option) and record is not None and each.name not in SHARED:
            lines.append(f"- `{record[0]}`: {re.sub('  +', ' ', record[1])}")
    return lines


def _exits(command: click.Command) -> list[str]:
    exits: dict[int, str] = getattr(command, "exits", {})
    return [f"- Exit code {code}: {words}" for code, words in exits.items()]


def main() -> None:
    """Write the page, which has marks for every command."""
    text = PAGE.read_text(encoding="utf-8")
    missing = [name for name in COMMANDS if name not in marked(text)]
    if missing:
        raise SystemExit(f"{PAGE.name} has no marks for {', '.join(missing)}")
    PAGE.write_text(rewritten(text), encoding="utf-8")


if __name__ == "__main__":
    main()
