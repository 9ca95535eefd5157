"""``sovl-tools config``."""

from __future__ import annotations

import json
from typing import Any

import click

from sovl_tools.cli.command import Command, configured_targets, format_option, tools_option
from sovl_tools.cli.output import write
from sovl_tools.configuration import DEFAULT_SOURCE, KEYS, configuration
from sovl_tools.linting.selection import selection_of
from sovl_tools.reporting.text import plain

EXAMPLES = """\b
Examples:
  sovl-tools config                  every setting, its value, and what named it
  sovl-tools config import-timeout   one of them
  sovl-tools config --format json    for programs"""
EXITS = {2: "The configuration can't be read, or there is no such setting."}


@click.command(cls=Command, epilog=EXAMPLES, exits=EXITS)
@click.argument("keys", nargs=-1, type=click.Choice(KEYS), metavar="[KEY]...")
@tools_option
@format_option("text", "json")
def config(*, keys: tuple[str, ...], tools: tuple[str, ...], format_: str) -> None:
    """Print the settings that hold here, and where each comes from.

    They are read from the nearest sovl-tools.toml, or [tool.sovl-tools] in the nearest
    pyproject.toml; --tools, SOVL_TOOLS_PATH and SOVL_TOOLS_PLUGINS_DIR win over it.
    """
    found = configuration(tools)
    selection_of(found)  # what is no rule, and no format, is reported here as well
    configured_targets(found)
    values: dict[str, Any] = {key: getattr(found, key.replace("-", "_")) for key in keys or KEYS}
    if "pythonpath" in values:
        values["pythonpath"] = found.module_paths
    sources = {key: found.sources.get(key, DEFAULT_SOURCE) for key in values}
    if format_ == "json":
        document = {key: {"value": value, "source": sources[key]} for key, value in values.items()}
        write(json.dumps(document, indent=2))
        return
    settings = {key: f"{key} = {json.dumps(value)}" for key, value in values.items()}
    width = max(map(len, settings.values()))
    write("\n".join(plain(f"{settings[key]:{width}}  # {sources[key]}") for key in values))
