"""The group of commands. Each is imported when it is used, so that ``--help`` stays quick."""

from __future__ import annotations

import atexit
import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from importlib import import_module
from typing import Any

import click

from sovl_tools import __version__
from sovl_tools.threads import any_given_up

COMMANDS = {
    "validate": ("sovl_tools.cli.validate:validate", "Check tool folders, as in CI."),
    "test": ("sovl_tools.cli.test:test", "Run the examples of tools as tests."),
    "route-test": (
        "sovl_tools.cli.search:route_test",
        "Test whether texts lead to their tools.",
    ),
    "list": ("sovl_tools.cli.show:list_tools", "List the tools."),
    "show": ("sovl_tools.cli.show:show", "Show one tool."),
    "call": ("sovl_tools.cli.call:call", "Call a tool and print its result as JSON."),
    "map": ("sovl_tools.cli.map:map_tool", "Call a tool with each of many inputs."),
    "run": ("sovl_tools.cli.run:run", "Run a procedure and print its result as JSON."),
    "runs": ("sovl_tools.cli.procedures:runs", "List the runs in a journal, or show one."),
    "graph": ("sovl_tools.cli.procedures:graph", "Draw the steps of a procedure."),
    "chat": ("sovl_tools.cli.chat:chat", "Talk to a model that calls the tools."),
    "export": ("sovl_tools.cli.export:export", "Print tools in a provider's format."),
    "match": ("sovl_tools.cli.search:match", "Find the tools whose phrases stand in a text."),
    "search": ("sovl_tools.cli.search:search", "Find the tools that a text asks for."),
    "new": ("sovl_tools.cli.new:new", "Write the folder of a new tool."),
    "import": ("sovl_tools.cli.import_tools:import_", "Write folders of tools defined elsewhere."),
    "sync": ("sovl_tools.cli.sync:sync", "Bring manifests into line with their functions."),
    "diff": ("sovl_tools.cli.diff:diff", "Tell what has changed in tools, and what breaks."),
    "lock": ("sovl_tools.cli.lock:lock", "Write down what has been reviewed."),
    "watch": ("sovl_tools.cli.watch:watch", "Load tools anew as they are edited."),
    "serve": ("sovl_tools.cli.serve:serve", "Offer the tools to editors and assistants (MCP)."),
    "install": (
        "sovl_tools.cli.install:install",
        "Tell an editor or an assistant to serve the tools.",
    ),
    "stats": ("sovl_tools.cli.stats:stats", "Sum up logged calls, or the tokens of definitions."),
    "explain": ("sovl_tools.cli.explain:explain", "Explain a rule of validate."),
    "config": ("sovl_tools.cli.config:config", "Print the settings and where they come from."),
    "schema": ("sovl_tools.cli.explain:schema", "Print a published JSON Schema."),
}
"""Where each command is, and what the list of commands says of it."""

GONE = {
    "clean": "there is no command 'clean' any more: validate keeps no cache",
}
"""Commands of earlier versions, and what to know instead."""

EXAMPLES = """\b
Examples:
  sovl-tools validate
  sovl-tools call example_tool number1=5 number2=3
  sovl-tools match "could you add numbers for me"

Completion: eval "$(_SOVL_TOOLS_COMPLETE=bash_source sovl-tools)" in bash, likewise
with zsh_source and fish_source."""


class LazyGroup(click.Group):
    """A group whose commands are imported when they are used.

    Args:
        table: where each command is, and what the list of commands says of it.
        gone: what to tell users of commands that are gone.
    """

    def __init__(
        self,
        *args: Any,
        table: Mapping[str, tuple[str, str]] | None = None,
        gone: Mapping[str, str] | None = None,
        **settings: Any,
    ) -> None:
        super().__init__(*args, **settings)
        self._table = table or {}
        self._gone = gone or {}

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of the table."""
        return list(self._table)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command."""
        if cmd_name not in self._table:
            return None
        module, _, attribute = self._table[cmd_name][0].partition(":")
        command: click.Command = getattr(import_module(module), attribute)
        return command

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """Suggest the nearest command where there is none of that name."""
        if args and args[0] in self._gone:
            ctx.fail(self._gone[args[0]])
        if args and args[0] not in self._table and not args[0].startswith("-"):
            # not at the top: --help and completion need nothing of the package
            suggestion = import_module("sovl_tools.model.suggestion")
            near = suggestion.nearest(args[0], self._table)
            ctx.fail(f"there is no command {args[0]!r}{suggestion.as_hint(near)}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands from the table, without importing any."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in self._table.items()])


def _width() -> int:
    """Return how wide help texts may be; asking the system saves click an import of 3 ms."""
    try:
        columns = int(os.environ.get("COLUMNS", "0")) or os.get_terminal_size().columns
    except (OSError, ValueError):
        columns = 80
    return max(50, min(columns, 100))


@click.group(
    cls=LazyGroup,
    table=COMMANDS,
    gone=GONE,
    epilog=EXAMPLES,
    context_settings={"help_option_names": ["-h", "--help"], "terminal_width": _width()},
)
@click.option(
    "-C",
    "--directory",
    type=click.Path(exists=True, file_okay=False),
    metavar="DIR",
    help="Run as if started in DIR.",
)
@click.option("-q", "--quiet", is_flag=True, help="Say nothing but results and errors.")
@click.option(
    "-v",
    "--verbose",
    count=True,
    help="Show the log, with tracebacks of tools; -vv adds our own lines.",
)
@click.version_option(__version__, "-V", "--version", prog_name="sovl-tools")
@click.pass_context
def group(ctx: click.Context, *, directory: str | None, quiet: bool, verbose: int) -> None:
    """Turn folders into tools that a language model can call.

    A folder tools/NAME with NAME.json (the manifest) and NAME.py (a function called NAME) is a
    tool. Where the tools are is said by --tools, by SOVL_TOOLS_PATH, by [tool.sovl-tools] in
    pyproject.toml, or else it is ./tools.
    """
    ctx.obj = {"quiet": quiet, "verbose": verbose}
    if directory is not None:
        try:
            os.chdir(directory)
        except OSError as error:
            raise click.BadParameter(f"{directory!r}: {error.strerror}", ctx) from error


def main() -> None:
    """Run the command line; end at once, whatever tools do that were given up."""
    try:
        os.fstat(2)
    except OSError:  # it is closed, and no other file must get its descriptor
        nowhere = os.open(os.devnull, os.O_RDWR)
        if nowhere != 2:  # noqa: PLR2004 - the descriptor itself
            os.dup2(nowhere, 2)
            os.close(nowhere)
    if sys.stderr is None:
        sys.stderr = open(2, "w", errors="backslashreplace", closefd=False)  # noqa: SIM115 - to the end
    try:
        try:
            group(prog_name="sovl-tools")
        except OSError as error:  # such as a full disk, to which click writes a help text
            where = "" if error.filename is None else f"{error.filename!r}: "
            sys.stderr.write(f"Error: {where}{error.strerror or error}\n")
            with open(os.devnull, "wb") as device:
                os.dup2(device.fileno(), 1)  # or the end would try to write the rest again
            raise SystemExit(1) from None
    except SystemExit as end:
        if not any_given_up():
            raise
        # Python would wait for whatever such a thread holds, or abort: input() holds stdin
        atexit._run_exitfuncs()  # noqa: SLF001 - what the interpreter itself would call
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
        os._exit(end.code if isinstance(end.code, int) else int(end.code is not None))
