"""The group of commands. Each is imported when it is used, so that ``--help`` stays quick."""

from __future__ import annotations

import atexit
import os
import sys
from contextlib import suppress

import click

from sovl_tools import __version__
from sovl_tools.cli.help import LazyGroup
from sovl_tools.threads import any_given_up

GROUPS = {
    "Write": {
        "new": ("new:new", "Write the folder of a new tool."),
        "sync": ("sync:sync", "Bring manifests into line with their functions."),
        "import": ("import_tools:import_", "Write folders for tools that are defined elsewhere."),
    },
    "Check": {
        "validate": ("validate:validate", "Check tool folders, as in CI."),
        "test": ("test:test", "Run the examples of tools as tests."),
        "diff": ("diff:diff", "Show changes in tools, and which of them break callers."),
        "check": ("check_servers:check", "Check MCP servers, and compare them with snapshots."),
        "lock": ("lock:lock", "Record the tools that have been reviewed."),
        "explain": ("explain:explain", "Explain a rule of validate."),
        "schema": ("explain:schema", "Print a published JSON Schema."),
    },
    "Use": {
        "list": ("show:list_tools", "List the tools."),
        "show": ("show:show", "Show one tool, or a procedure."),
        "call": ("call:call", "Call a tool and print its result as JSON."),
        "map": ("map:map_tool", "Call a tool with each of many inputs."),
        "match": ("search:match", "Find tools by their activation phrases."),
        "search": ("search:search", "Find tools by words."),
        "export": ("export:export", "Print tools in a provider's format."),
    },
    "Live": {
        "dev": ("dev:dev", "Show the tools in the browser while you edit them."),
        "watch": ("watch:watch", "Reload tools while you edit them."),
        "serve": ("serve:serve", "Offer tools to editors and assistants (MCP)."),
        "install": ("install:install", "Set up an editor or an assistant to serve the tools."),
    },
    "Procedures and agents": {
        "run": ("run:run", "Run a procedure, or check earlier runs."),
        "chat": ("chat:chat", "Talk to a model that calls the tools."),
    },
}
"""Where each command is in this package, and its line in the list of commands, by group."""

COMMANDS = {name: entry for group in GROUPS.values() for name, entry in group.items()}

MOVED = {
    "clean": "'clean' is gone: validate keeps no cache",
    "config": "'config' is now: sovl-tools validate --show-settings",
    "graph": "'graph' is now: sovl-tools show PROCEDURE --format mermaid",
    "route-test": "'route-test FILE' is now: sovl-tools test --routes FILE",
    "runs": "'runs' is now: sovl-tools run --journal FILE --list, and --show ID for one run",
    "stats": "'stats' is gone; 'stats --tokens' is now: sovl-tools export --tokens",
}
"""Commands of earlier versions, and what replaces them."""

EXAMPLES = """\b
Examples:
  sovl-tools validate
  sovl-tools call example_tool number1=5 number2=3
  sovl-tools match "could you add numbers for me"

Completion: eval "$(_SOVL_TOOLS_COMPLETE=bash_source sovl-tools)" in bash, likewise
with zsh_source and fish_source."""


@click.group(
    cls=LazyGroup,
    groups=GROUPS,
    moved=MOVED,
    epilog=EXAMPLES,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.option(
    "-C",
    "--directory",
    type=click.Path(exists=True, file_okay=False),
    metavar="DIR",
    help="Run as if started in DIR.",
)
@click.option("-q", "--quiet", is_flag=True, help="Write only results and errors.")
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
    tool. Tools are from --tools, SOVL_TOOLS_PATH, [tool.sovl-tools] in pyproject.toml, or else
    ./tools.
    """
    ctx.obj = {"quiet": quiet, "verbose": verbose}
    if directory is not None:
        os.chdir(directory)


def main() -> None:
    """Run the command line; end at once, whatever abandoned tools still do."""
    try:
        group(prog_name="sovl-tools")
    except SystemExit as end:
        if not any_given_up():
            raise
        # Python would wait for what such a thread holds, or abort: input() holds stdin
        atexit._run_exitfuncs()  # noqa: SLF001 - what the interpreter itself would call
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
        os._exit(end.code if isinstance(end.code, int) else int(end.code is not None))
