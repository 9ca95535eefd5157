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
from sovl_tools.model.suggestion import did_you_mean
from sovl_tools.validation.published import published
from sovl_tools.validation.wording import describe

PATH_VARIABLE = "SOVL_TOOLS_PATH"
DEFAULT_PATH = "tools"
DEFAULT_SOURCE = "the default"
DEFAULT_IMPORT_TIMEOUT = 10.0
_KEYS = ("paths", "import_timeout", "watch")
_PATHS = ("paths", "watch")


@dataclass(frozen=True, slots=True)
class Configuration:
    """The settings that hold.

    Attributes:
        paths: tools directories, the first wins.
        source: what named the paths: ``"--tools"``, the variable, a file, or ``"the default"``.
        import_timeout: how long importing one module may take, in seconds.
        watch: folders and modules outside of the tools directories that tools import; when one
            changes, the tools that imported it are loaded anew.
    """

    paths: tuple[str, ...]
    source: str
    import_timeout: float = DEFAULT_IMPORT_TIMEOUT
    watch: tuple[str, ...] = ()


def configuration(
    flags: Sequence[str] = (), *, environment: Mapping[str, str] | None = None
) -> Configuration:
    """Return the settings for the current directory.

    ``flags`` win over ``SOVL_TOOLS_PATH`` (paths joined by the system's path separator), that
    over ``[tool.sovl-tools]`` in the nearest ``pyproject.toml``, and that over ``./tools``.
    Paths are relative to the file that names them.

    Raises:
        ConfigurationError: ``pyproject.toml`` can't be read or says something else than it may.
    """
    environment = os.environ if environment is None else environment
    file = _nearest_project()
    table = _table(file) if file else {}
    timeout = float(table.get("import_timeout", DEFAULT_IMPORT_TIMEOUT))
    watch = table.get("watch", ())
    named = [path for path in environment.get(PATH_VARIABLE, "").split(os.pathsep) if path]
    if flags:
        return Configuration(tuple(flags), "--tools", timeout, watch)
    if named:
        return Configuration(tuple(named), PATH_VARIABLE, timeout, watch)
    if "paths" in table:
        return Configuration(table["paths"], str(file), timeout, watch)
    return Configuration((DEFAULT_PATH,), DEFAULT_SOURCE, timeout, watch)


def _nearest_project() -> Path | None:
    here = Path.cwd()
    files = (folder / "pyproject.toml" for folder in (here, *here.parents))
    return next((file for file in files if file.is_file()), None)


def _table(file: Path) -> dict[str, JSON]:
    """Return what the file says of us, its paths made relative to the current directory."""
    try:
        document = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigurationError(str(file), str(error)) from error
    tool = document.get("tool")
    table: JSON = tool.get("sovl-tools", {}) if isinstance(tool, dict) else {}
    _check(file, table)
    paths = {key: _relative(file, table[key]) for key in _PATHS if key in table}
    return {**table, **paths}


def _check(file: Path, table: JSON) -> None:
    source = f"{file}: [tool.sovl-tools]"
    plain = json.loads(json.dumps(table, default=lambda _: {}))
    for problem in published("config").problems(plain):
        if problem.keyword == "additionalProperties":
            name = problem.expected[0]
            hint = did_you_mean(name, _KEYS) or f"the keys are {', '.join(_KEYS)}"
            raise ConfigurationError(source, f"{name!r} is not a key; {hint}")
        raise ConfigurationError(source, f"{dotted(problem.path)} {describe(problem)}".strip())


def _relative(file: Path, paths: Sequence[str]) -> tuple[str, ...]:
    return tuple(_shown(file.parent / path) for path in paths)


def _shown(path: Path) -> str:
    """Return a path relative to the current directory, unless it is on another drive."""
    try:
        return os.path.relpath(path)
    except ValueError:
        return os.path.abspath(path)
