"""``sovl-tools new``."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import click

from sovl_tools.cli import option
from sovl_tools.cli.command import Command, Misuse, note
from sovl_tools.cli.load_tools import target_directory
from sovl_tools.cli.output import write
from sovl_tools.model.folder import fitting_name, name_problem
from sovl_tools.reporting.text import plain
from sovl_tools.scaffolding.files import (
    EDITOR_SCHEMA,
    create_folders,
    write_editor_schema,
)
from sovl_tools.scaffolding.new_tool import (
    NewParameter,
    NewTool,
    parameter,
    sample_argument,
    tool_of_function,
    tool_of_parameters,
)

EXAMPLES = """\b
Examples:
  sovl-tools new get_weather --param city:string --param days:integer=3
  sovl-tools new find_books --param 'author:string?' --async
  sovl-tools new plan_trip --param day:date --param 'stops:array(string)'
  sovl-tools new --from weather.service:forecast

TYPE is string, integer, number, boolean, array or object, or what Python calls them; date, datetime
or time; enum(A,B) with the values; array(TYPE) with the type of the items. A default after "=" or a
"?" makes the parameter optional. The shell needs quotes around brackets and "?"."""
EXITS = {2: "The folder exists, or NAME can't name a tool."}


def _parameters(values: Sequence[str]) -> tuple[NewParameter, ...]:
    found = {each.name: each for each in map(parameter, values)}
    if len(found) < len(values):
        raise ValueError("a parameter is named twice")
    return tuple(found.values())


@click.command(cls=Command, epilog=EXAMPLES, exits=EXITS)
@click.argument("name", required=False)
@click.option(
    "--param",
    "parameters",
    multiple=True,
    callback=option.value_reader(_parameters),
    metavar="NAME:TYPE",
    help="A parameter: city:string, days:integer=3, tag:string?, day:date, 'unit:enum(km,mi)=km' or"
    " 'tags:array(string)'; can be repeated.",
)
@click.option(
    "--from",
    "origin",
    metavar="MODULE:FUNCTION",
    help="Make a tool of a function: its signature and docstring become the manifest.",
)
@click.option("--description", default="", metavar="TEXT", help="What the tool does, and when.")
@click.option("--async", "is_async", is_flag=True, help="Make the function async.")
@option.tools
@click.option("--force", is_flag=True, help="Replace the files of an existing tool.")
def new(
    *,
    name: str | None,
    parameters: tuple[NewParameter, ...],
    origin: str | None,
    description: str,
    is_async: bool,
    tools: tuple[str, ...],
    force: bool,
) -> None:
    """Write the folder of a new tool, ready to validate and to call.

    It goes into the first tools directory, which is created if it is missing, with a schema for
    editors next to the folders. The function returns its arguments until you write its body. With
    --from it is imported from its module, which can be in the current directory, and NAME defaults
    to its own.
    """
    if name is None and origin is None:
        raise click.MissingParameter(param_hint="'NAME'", param_type="argument")
    source = None if origin is None else _module_and_attribute(origin)
    name = source[1] if name is None and source is not None else str(name)
    reason = name_problem(name)
    if reason is None and name.startswith("_"):
        reason = "folders whose name begins with '_' are not tools"
    if reason is not None:
        better = fitting_name(name)
        hint = f"; call it {better!r}" if better else ""
        raise Misuse(f"{name!r} can't name a tool: {reason}{hint}")
    place = f"{target_directory(tools)}/{name}"
    if source is None:
        made = tool_of_parameters(name, parameters, description=description, is_async=is_async)
        path = ""
    elif parameters or is_async:
        raise Misuse("--from takes the parameters from the function: leave --param and --async out")
    else:
        module, attribute = source
        function, path = _imported_function(module, attribute)
        made = tool_of_function(
            name, function, module=module, attribute=attribute, description=description
        )
    if os.path.lexists(place) and not force:
        raise Misuse(f"{place!r} already exists; --force replaces its files")
    create_folders(os.path.dirname(place), {name: made.files})
    directory = os.path.dirname(place) or "."
    written = [f"{place}/{file}" for file in made.files]
    with suppress(OSError):  # the tool works without it
        if write_editor_schema(directory):
            written.append(f"{directory}/{EDITOR_SCHEMA}")
    write("\n".join(map(plain, written)))
    for line in (*made.notes, _advice(made, tools, origin=origin, path=path)):
        note(line)


def _module_and_attribute(origin: str) -> tuple[str, str]:
    module, colon, attribute = origin.partition(":")
    if not colon or not all(part.isidentifier() for part in [*module.split("."), attribute]):
        raise Misuse(f"--from: {origin!r} is not MODULE:FUNCTION")
    return module, attribute


def _imported_function(module: str, attribute: str) -> tuple[Callable[..., Any], str]:
    """Return a function, and the directory that ``sys.path`` lacked for its module."""
    top = module.partition(".")[0]
    is_installed = top in sys.modules or find_spec(top) is not None
    path = "" if is_installed else "."
    sys.path.append(os.getcwd())
    try:
        members = vars(import_module(module))
    except (Exception, SystemExit) as error:
        words = f"{type(error).__name__}: {error}"
        raise Misuse(f"--from: {module} can't be imported: {words}") from error
    function = members.get(attribute)
    if not callable(function) or isinstance(function, type):
        raise Misuse(f"--from: {module} has no function {attribute!r}")
    return function, path


def _advice(made: NewTool, tools: Sequence[str], *, origin: str | None, path: str) -> str:
    """Return what to do next, with a call that matches."""
    parameters = made.document["parameters"]
    pairs = [f"{key}={sample_argument(parameters, key)}" for key in parameters["required"]]
    option = ["--tools", tools[0]] if tools else []
    command = shlex.join(["sovl-tools", "call", made.name, *pairs, *option])
    if path:
        return f"next: PYTHONPATH={path} {command}"
    todo = "" if origin else f"write the function in {made.name}.py, then: "
    return f"next: {todo}{command}"
