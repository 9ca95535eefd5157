"""Help strings, and groups whose commands are imported when they are used."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import Any

import click


class WholeWords(click.HelpFormatter):
    """Wraps help strings between words only, never at the hyphen of ``--no-import``."""

    def write_text(self, text: str) -> None:
        """Write a paragraph."""
        super().write_text(_unbroken(text))

    def write_dl(self, rows: Iterable[tuple[str, str]], *args: Any, **settings: Any) -> None:
        """Write a list of terms and their descriptions."""
        super().write_dl([(term, _unbroken(text)) for term, text in rows], *args, **settings)

    def getvalue(self) -> str:
        """Return what was written."""
        return super().getvalue().replace(_HYPHEN, "-")


# textwrap doesn't break lines at it
_HYPHEN = "\N{NON-BREAKING HYPHEN}"


def _unbroken(text: str) -> str:
    return text.replace("-", _HYPHEN)


class HelpContext(click.Context):
    """The context of our commands, for their help strings."""

    formatter_class = WholeWords


class LazyGroup(click.Group):
    """A group whose commands are imported when they are used.

    Args:
        groups: where each command is in this package, and its line in the list, by heading.
        moved: what to tell users of commands of earlier versions.
    """

    context_class = HelpContext

    def __init__(
        self,
        *args: Any,
        groups: Mapping[str, Mapping[str, tuple[str, str]]],
        moved: Mapping[str, str] | None = None,
        **settings: Any,
    ) -> None:
        super().__init__(*args, **settings)
        self._groups = groups
        self._places = {
            name: place for each in groups.values() for name, (place, _) in each.items()
        }
        self._moved = moved or {}

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of the groups."""
        return list(self._places)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command."""
        if cmd_name not in self._places:
            return None
        module, _, attribute = self._places[cmd_name].partition(":")
        command: click.Command = getattr(import_module(f"sovl_tools.cli.{module}"), attribute)
        return command

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """Say where a command went, or suggest the nearest one."""
        if args and args[0] in self._moved:
            ctx.fail(self._moved[args[0]])
        if args and args[0] not in self._places and not args[0].startswith("-"):
            # not at the top: --help and completion need nothing of the package
            suggestion = import_module("sovl_tools.model.suggestion")
            near = suggestion.nearest(args[0], self._places)
            ctx.fail(f"there's no command {args[0]!r}{suggestion.as_hint(near)}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands under their headings, without importing any."""
        width = max(map(len, self._places))
        for heading, commands in self._groups.items():
            with formatter.section(heading):
                # padded, so that the columns of all groups are aligned
                formatter.write_dl(
                    [(f"{name:{width}}", text) for name, (_, text) in commands.items()]
                )
