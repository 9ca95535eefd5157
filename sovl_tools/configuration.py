"""Where the tools are: flag, environment, ``pyproject.toml``, ``./tools``."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sovl_tools.model.document import JSON, dotted
from sovl_tools.model.errors import ConfigurationError
from sovl_tools.model.folder import IMPORT_TIMEOUT
from sovl_tools.model.suggestion import did_you_mean
from sovl_tools.schema.engine import published
from sovl_tools.schema.messages import describe

PATH_VARIABLE = "SOVL_TOOLS_PATH"
DEFAULT_PATH = "tools"
DEFAULT_SOURCE = "the default"
PLUGINS_VARIABLE = "SOVL_TOOLS_PLUGINS_DIR"
_KEYS = ("paths", "import_timeout", "watch", "plugins", "procedures")
_PATHS = ("paths", "watch", "plugins", "procedures")


@dataclass(frozen=True, slots=True)
class Configuration:
    """The settings that hold.

    Attributes:
        paths: tools directories, the first wins.
        source: what named the paths: ``"--tools"``, the variable, a file, or ``"the default"``.
        import_timeout: how long importing one module may take, in seconds.
        watch: folders and modules outside of the tools directories that tools import; when one
            changes, the tools that imported it are loaded anew.
        plugins: directories of modules with tools.
        procedures: directories of procedures, which ``validate`` checks.
    """

    paths: tuple[str, ...]
    source: str
    import_timeout: float = IMPORT_TIMEOUT
    watch: tuple[str, ...] = ()
    plugins: tuple[str, ...] = ()
    procedures: tuple[str, ...] = ()


def configuration(
    flags: Sequence[str] = (), *, environment: Mapping[str, str] | None = None
) -> Configuration:
    """Return the settings for the current directory.

    ``flags`` win over ``SOVL_TOOLS_PATH`` (paths joined by the system's path separator), that
    over ``[tool.sovl-tools]`` in the nearest ``pyproject.toml``, and that over ``./tools``.
    Paths are relative to the file that names them. ``SOVL_TOOLS_PLUGINS_DIR`` wins over the
    ``plugins`` of the file.

    Raises:
        ConfigurationError: ``pyproject.toml`` can't be read or says something else than it may, or
            there is no current directory any more.
    """
    environment = os.environ if environment is None else environment
    try:
        here = Path.cwd()
    except OSError as error:  # others can remove the current directory
        words = f"{error.strerror}; go to a directory that is there"
        raise ConfigurationError("the current directory", words) from error
    # the nearest alone, even without a table for us: what lies above is another project's
    files = (folder / "pyproject.toml" for folder in (here, *here.parents))
    file = next((each for each in files if each.is_file()), None)
    table = _table(file) if file else {}
    paths, source = _paths(flags, environment, table, str(file))
    return Configuration(
        paths,
        source,
        float(table.get("import_timeout", IMPORT_TIMEOUT)),
        table.get("watch", ()),
        _listed(environment, PLUGINS_VARIABLE) or table.get("plugins", ()),
        table.get("procedures", ()),
    )


def _paths(
    flags: Sequence[str], environment: Mapping[str, str], table: Mapping[str, JSON], file: str
) -> tuple[tuple[str, ...], str]:
    """Return the tools directories and what named them."""
    # an empty list or variable names nothing, so that the next one is asked
    candidates = (
        (tuple(flags), "--tools"),
        (_listed(environment, PATH_VARIABLE), PATH_VARIABLE),
        (table.get("paths", ()), file),
        ((DEFAULT_PATH,), DEFAULT_SOURCE),
    )
    return next(each for each in candidates if each[0])


def _listed(environment: Mapping[str, str], variable: str) -> tuple[str, ...]:
    return tuple(path for path in environment.get(variable, "").split(os.pathsep) if path)


def _table(file: Path) -> dict[str, JSON]:
    """Return what the file says of us, its paths made relative to the current directory."""
    try:
        document = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigurationError(str(file), str(error)) from error
    tool = document.get("tool")
    table: JSON = tool.get("sovl-tools", {}) if isinstance(tool, dict) else {}
    _check(file, table)
    paths = {
        key: tuple(_shown(file.parent / each) for each in table[key])
        for key in _PATHS
        if key in table
    }
    return {**table, **paths}


def _check(file: Path, table: JSON) -> None:
    source = f"{file}: [tool.sovl-tools]"
    # dates and times of TOML are no JSON; an object is of the wrong type wherever one stands
    plain = json.loads(json.dumps(table, default=lambda _: {}))
    # the first one is raised: nothing can be done with a configuration that is wrong in part
    for problem in published("config").problems(plain):
        if problem.keyword == "additionalProperties":
            name = problem.expected[0]
            hint = did_you_mean(name, _KEYS) or f"the keys are {', '.join(_KEYS)}"
            raise ConfigurationError(source, f"{name!r} is not a key; {hint}")
        raise ConfigurationError(source, f"{dotted(problem.path)} {describe(problem)}".strip())


def _shown(path: Path) -> str:
    """Return a path relative to the current directory, unless it is on another drive."""
    try:
        return os.path.relpath(path)
    except ValueError:
        return os.path.abspath(path)
