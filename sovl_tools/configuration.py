"""The configuration: flags, environment, ``pyproject.toml`` or ``sovl-tools.toml``."""

from __future__ import annotations

import json
import logging
import os
import sys
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from sovl_tools.model.call import Mode
from sovl_tools.model.document import JSON, dotted
from sovl_tools.model.env_file import parse_env
from sovl_tools.model.errors import ConfigurationError
from sovl_tools.model.folder import IMPORT_TIMEOUT, SECTIONS
from sovl_tools.model.path_patterns import PathPattern
from sovl_tools.model.policy import Approving, Coerce, Policy
from sovl_tools.model.suggestion import did_you_mean
from sovl_tools.schema.engine import published
from sovl_tools.schema.problem import describe

_LOGGER = logging.getLogger("sovl_tools")
PATH_VARIABLE = "SOVL_TOOLS_PATH"
DEFAULT_PATH = "tools"
DEFAULT_SOURCE = "the default"
PLUGINS_VARIABLE = "SOVL_TOOLS_PLUGINS_DIR"
LOCK_FILE = "sovl-tools.lock"
FILES = ("sovl-tools.toml", "pyproject.toml")
"""The names of the files in each directory, the winner first."""
_TABLE = "sovl-tools"
_SECONDS = ("import-timeout", "timeout", "max-timeout", "cache-seconds")
_PATHS = ("paths", "pythonpath", "watch", "plugins", "procedures", "env-file")


@dataclass(frozen=True, slots=True)
class Configuration:
    """The effective settings; ``KEYS`` are their names in the file, with hyphens.

    Attributes:
        paths: tools directories, the first wins.
        source: what named the paths: ``"--tools"``, the variable, a file, or ``"the default"``.
        import_timeout: the limit for importing one module, in seconds.
        watch: folders and modules outside of the tools directories that tools import; when one
            changes, the tools that imported it are loaded again.
        plugins: directories of modules with tools.
        procedures: directories of procedures, which ``validate`` checks.
        exclude: patterns of folders and procedures that commands omit, as in a
            ``.gitignore`` of the current directory.
        pythonpath: directories from which tools import the user's own packages; see
            ``module_paths`` for the default.
        select: the rules whose findings are shown, by code, beginning of a code or name.
        extend_select: rules that are shown in addition those.
        ignore: the rules whose findings are hidden.
        per_tool_ignores: the same for tools whose names match a pattern.
        warnings_as_errors: whether warnings fail as errors do.
        target: provider formats whose losses ``validate`` reports.
        format: how ``validate`` writes its result, each as ``FORMAT`` or ``FORMAT=FILE``; the file
            is in the project.
        locked: whether only tools are loaded that are as ``lock_file`` says.
        env_file: a file of environment variables, which don't replace existing ones.
        timeout: a call's limit, in seconds, unless its manifest sets another.
        max_timeout: the longest limit that a manifest can set.
        max_result_bytes: longer results are cut, even if a manifest sets more.
        mode: where tools run.
        coerce: ``"lenient"`` repairs arguments where there is one way to do so.
        max_concurrency: the number of calls of each tool that can run at a time.
        retry: the maximum number of attempts for a call of an idempotent tool.
        cache_seconds: the time that equal calls of a read-only tool get the same result.
        rate_limit: the number of calls of each tool that can begin in a time.
        approval: which calls need approval.
        views: criteria of ``ToolRegistry.select``, by the names of the views.
        servers: MCP servers for ``check``, by name.
        file: the configuration file, if there is one.
        sources: the origin of each value, by its key in the file; ``"the default"`` for the rest.
    """

    paths: tuple[str, ...]
    source: str
    import_timeout: float = IMPORT_TIMEOUT
    watch: tuple[str, ...] = ()
    plugins: tuple[str, ...] = ()
    procedures: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    pythonpath: tuple[str, ...] = ()
    select: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    per_tool_ignores: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    warnings_as_errors: bool = False
    target: tuple[str, ...] = ()
    format: tuple[str, ...] = ()
    locked: bool = False
    env_file: str | None = None
    timeout: float | None = None
    max_timeout: float | None = None
    max_result_bytes: int | None = None
    mode: Mode | None = None
    coerce: Coerce = "strict"
    max_concurrency: int | None = None
    retry: int | None = None
    cache_seconds: float | None = None
    rate_limit: str | None = None
    approval: Approving | None = None
    views: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    servers: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    file: str | None = field(default=None, compare=False)
    sources: Mapping[str, str] = field(default_factory=dict, compare=False)

    @property
    def module_paths(self) -> tuple[str, ...]:
        """``pythonpath``; by default the directory of the file, and ``src`` next to it."""
        if self.pythonpath or self.file is None or "pythonpath" in self.sources:
            return self.pythonpath
        directory = Path(self.file).parent
        return tuple(str(each) for each in (directory / "src", directory) if each.is_dir())

    @property
    def policy(self) -> Policy:
        """The settings of calls."""
        return Policy(
            timeout=self.timeout,
            mode=self.mode,
            coerce=self.coerce,
            max_concurrency=self.max_concurrency,
            retry=self.retry,
            cache_seconds=self.cache_seconds,
            rate_limit=self.rate_limit,
            approval=self.approval,
            timeout_ceiling=self.max_timeout,
            result_ceiling=self.max_result_bytes,
        )

    @property
    def lock_file(self) -> str:
        """The file that ``sovl-tools lock`` writes: next to ``file``, or in the directory here."""
        return _shown(Path(self.file or "").parent / LOCK_FILE)


KEYS = tuple(
    each.name.replace("_", "-")
    for each in fields(Configuration)
    if each.name not in {"source", "file", "sources"}
)
"""The keys of the table in the order in which ``validate --show-settings`` prints them."""
_SERVER_KEYS = ("command", "url", "env", "headers", "timeout")
_VIEW_KEYS = ("tags", "category", "name", "annotations", "metadata")


def configuration(flags: Sequence[str] = ()) -> Configuration:
    """Return the settings for the current directory.

    ``flags`` win over ``SOVL_TOOLS_PATH`` (paths joined by the system's path separator), that
    over the nearest ``sovl-tools.toml``, or ``[tool.sovl-tools]`` of the nearest
    ``pyproject.toml``, and that over ``./tools`` and, where it is missing, the one next to a
    file that has settings. Paths are relative to the file that names them.
    ``SOVL_TOOLS_PLUGINS_DIR`` wins over the ``plugins`` of the file.

    Raises:
        ConfigurationError: the file can't be read or says something else than it may.
    """
    file = _nearest_file()
    table = _table(file) if file else {}
    sources = dict.fromkeys(table, str(file))
    paths, source = _paths(flags, table, str(file))
    plugins = _listed(PLUGINS_VARIABLE)
    if plugins:
        table["plugins"], sources["plugins"] = plugins, PLUGINS_VARIABLE
    values: dict[str, Any] = {key.replace("-", "_"): value for key, value in table.items()}
    sources["paths"] = source
    settings = {**values, "paths": paths, "source": source}
    return Configuration(**settings, file=str(file) if file else None, sources=sources)


def _paths(
    flags: Sequence[str], table: Mapping[str, JSON], file: str
) -> tuple[tuple[str, ...], str]:
    """Return the tools directories and what named them."""
    beside = Path(file).parent / DEFAULT_PATH
    is_beside = table and os.path.isdir(beside) and not os.path.isdir(DEFAULT_PATH)
    # an empty list or variable doesn't count, so the next source is read
    candidates = (
        (tuple(flags), "--tools"),
        (_listed(PATH_VARIABLE), PATH_VARIABLE),
        (table.get("paths", ()), file),
        ((_shown(beside),) if is_beside else (), DEFAULT_SOURCE),
        ((DEFAULT_PATH,), DEFAULT_SOURCE),
    )
    return next(each for each in candidates if each[0])


def _listed(variable: str) -> tuple[str, ...]:
    return tuple(path for path in os.environ.get(variable, "").split(os.pathsep) if path)


def _nearest_file() -> Path | None:
    here = Path.cwd()
    # only the nearest: a file further up belongs to another project
    files = (folder / name for folder in (here, *here.parents) for name in FILES)
    # os.path doesn't raise: a directory further up may be forbidden
    return next((file for file in files if os.path.isfile(file)), None)


def _table(file: Path) -> dict[str, Any]:
    """Return the file's part for us, by keys with hyphens and in the types of the settings."""
    try:
        # editors of Windows begin a file with a byte order mark
        document = tomllib.loads(file.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError) as error:
        raise ConfigurationError(str(file), str(error)) from error
    is_own = file.name == FILES[0]
    tool = document.get("tool")
    for name in tool if isinstance(tool, dict) and not is_own else ():
        if name != _TABLE and name.casefold().replace("_", "").replace("-", "") == "sovltools":
            raise ConfigurationError(f"{file}: [tool.{name}]", f"the table is [tool.{_TABLE}]")
    table: JSON = document if is_own else tool.get(_TABLE, {}) if isinstance(tool, dict) else {}
    source = str(file) if is_own else f"{file}: [tool.sovl-tools]"
    if table != {}:  # an empty table needs no engine to check it: 25 ms
        _check(source, table)
    settings = {key.replace("_", "-"): value for key, value in table.items()}
    return {key: _setting(key, value, file) for key, value in settings.items()}


def _setting(key: str, value: JSON, file: Path) -> Any:
    if key in _PATHS:
        if isinstance(value, str):
            return _shown(file.parent / value)
        return tuple(_shown(file.parent / path) for path in value)
    if key == "exclude":
        return tuple(_pattern(text, file) for text in value)
    if isinstance(value, dict) and key != "servers":
        return {
            name: _criteria(each) if key == "views" else tuple(each) for name, each in value.items()
        }
    if key == "format":
        texts = (value,) if isinstance(value, str) else value
        return tuple(_output(text, file) for text in texts)
    if key in _SECONDS:
        value = float(value)
    return tuple(value) if isinstance(value, list) else value


def _output(text: str, file: Path) -> str:
    """Return ``FORMAT=FILE`` with a path relative to the current directory."""
    name, _, path = text.partition("=")
    return text if path in {"", "-"} else f"{name}={_shown(file.parent / path)}"


def _criteria(view: Mapping[str, JSON]) -> dict[str, JSON]:
    """Return the criteria of a view as ``ToolRegistry.select`` takes them."""
    return {"name_pattern" if key == "name" else key: value for key, value in view.items()}


def _pattern(text: str, file: Path) -> str:
    """Return a pattern relative to the current directory, which is the file's or below."""
    if PathPattern.of(text, str(file.parent)) is None:
        raise ConfigurationError(f"{file}: exclude", f"{text!r} isn't a pattern of paths")
    above = os.path.relpath(file.parent).replace(os.sep, "/")
    plain = text.removeprefix("!")
    negation = "!" * (text != plain)
    if above == ".":
        return text
    # one without a slash is about any name below the file's directory
    is_anchored = "/" in plain.rstrip().rstrip("/")
    return f"{negation}{above}/{'' if is_anchored else '**/'}{plain.lstrip('/')}"


def _check(source: str, table: JSON) -> None:
    # TOML's dates and times aren't JSON; as null they have the wrong type everywhere
    plain = json.loads(json.dumps(table, default=lambda _: None))
    # the first one is raised: a partly wrong configuration is useless
    for problem in published("config").problems(plain):
        if problem.keyword == "additionalProperties":
            name, where = problem.expected[0], dotted(problem.path)
            keys = (KEYS, (), _VIEW_KEYS, sorted(SECTIONS["annotations"]))[len(problem.path)]
            if problem.path[:1] == ("servers",):
                keys = _SERVER_KEYS
            hint = did_you_mean(name, keys) or f"the keys are {', '.join(keys)}"
            prefix = f"{where}: " if where else ""
            raise ConfigurationError(source, f"{prefix}{name!r} is not a key; {hint}")
        raise ConfigurationError(source, f"{dotted(problem.path)} {describe(problem)}".strip())


def _shown(path: Path) -> str:
    """Return a path relative to the current directory, unless it is on another drive."""
    try:
        return os.path.relpath(path)
    except ValueError:
        return os.path.abspath(path)


def load_configuration(tools: Sequence[str] = (), *, imports: bool = True) -> Configuration:
    """Return the effective settings, and let tools import the user's own packages.

    Where tools are imported, the variables of ``env-file`` that aren't set become part of the
    environment.

    Args:
        tools: tools directories, which win over the configured ones.
        imports: whether tools are imported in this process. Otherwise the project's directories
            leave ``sys.path``: none of its modules can be taken for a library.

    Raises:
        ConfigurationError: the configuration can't be read, or names a directory that is not there.
    """
    found = configuration(tools)
    for each in found.pythonpath:
        if not os.path.exists(each):
            raise ConfigurationError(f"{found.file}: pythonpath", f"there's no {each!r}")
    path = import_path(found)
    sys.path[:] = path if imports else path[: len(path) - len(found.module_paths)]
    if imports:
        add_variables(found)
    return found


def add_variables(found: Configuration) -> None:
    """Add the variables of ``env-file`` to the environment, except existing ones.

    Raises:
        ConfigurationError: the file can't be read; a missing one isn't one.
    """
    if found.env_file is None:
        return
    try:
        variables = parse_env(Path(found.env_file).read_text(encoding="utf-8-sig"))
    except FileNotFoundError:  # it's seldom part of a repository
        _LOGGER.debug("there's no %s", found.env_file)
    except (OSError, ValueError) as error:
        raise ConfigurationError(found.env_file, str(error)) from error
    else:
        for name, value in variables.items():
            os.environ.setdefault(name, value)


def project_configuration(tools: Sequence[str] = ()) -> Configuration:
    """Return the effective settings of a Python program, like ``load_configuration`` for a command.

    A path that is on ``sys.path`` already keeps its place.

    Raises:
        ConfigurationError: the configuration can't be read.
    """
    found = configuration(tools)
    places = [os.path.abspath(each) for each in found.module_paths]
    sys.path += [each for each in places if each not in sys.path]
    add_variables(found)
    return found


def import_path(found: Configuration) -> list[str]:
    """Return ``sys.path`` for a process that imports tools: the project's directories come last.

    So sovl-tools imports its libraries from where they're installed, even if a project has files of
    their names.
    """
    places = [os.path.abspath(each) for each in found.module_paths]
    return [*(each for each in sys.path if each not in places), *places]


def add_project() -> None:
    """Let tools import the packages of the project around the current directory."""
    try:
        project_configuration()
    except ConfigurationError as error:
        _LOGGER.debug("the project's packages aren't found: %s", error)
