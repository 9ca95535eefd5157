"""Examples as items of pytest, ``tools/weather/weather.json::example[0]``, and fixtures."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from sovl_tools.configuration import Configuration, load_configuration
from sovl_tools.configured import open_registry
from sovl_tools.dispatch.tooler import Tooler
from sovl_tools.linting.examples import (
    Example,
    examples_of,
    groups_of,
    run_example,
    working_directory,
)
from sovl_tools.loading.lock import read_lock
from sovl_tools.loading.pipeline import load_folder
from sovl_tools.model.errors import SovlToolsError
from sovl_tools.model.folder import Settings, ToolFolder
from sovl_tools.model.path_patterns import is_excluded, patterns_of
from sovl_tools.pytest_plugin import INCLUDE, OPTION
from sovl_tools.registry import ToolRegistry
from sovl_tools.testing.server import ScriptedServer

FOUND = pytest.StashKey[Configuration]()
"""The settings that hold, of which the paths are the plugin's."""


class Examples:
    """Finds the manifests of the tools in some directories.

    Raises:
        UsageError: a directory is not there, or an option or the configuration is wrong.
    """

    def __init__(self, config: pytest.Config) -> None:
        named = config.getoption(OPTION) or []
        start = config.invocation_params.dir
        paths = [start / path for path in named] or config.getini(OPTION)
        self._directories = [Path(os.path.abspath(path)) for path in paths]
        for path in self._directories:
            if not path.is_dir():
                source = "--sovl-tools" if named else f"{OPTION} in {config.inipath}"
                raise pytest.UsageError(f"there's no directory {str(path)!r} (named by {source})")
        try:
            self._include = groups_of(config.getoption(INCLUDE))
            self._found = load_configuration([_shown(path) for path in self._directories])
            lock = read_lock(self._found.lock_file) if self._found.locked else None
        except (SovlToolsError, ValueError) as error:
            raise pytest.UsageError(str(error)) from error
        config.stash[FOUND] = self._found
        self._settings = Settings(imports=False, locked=lock)
        self._excluded = patterns_of(self._found.exclude, os.getcwd())
        # a session that names files wants these alone, unless it names the directory as well
        if named or config.args_source is not pytest.Config.ArgsSource.ARGS:
            config.args += [path for path in map(str, self._directories) if path not in config.args]

    def pytest_collect_file(self, file_path: Path, parent: pytest.Collector) -> Any:
        """Return the examples of a tool's folder, at its manifest; without one, at any file."""
        place = file_path.parent
        is_tool = place.parent in self._directories and place.name[0] not in "._"
        if not is_tool or is_excluded(str(place), self._excluded):
            return None
        if file_path.name != f"{place.name}.json":
            names = [] if (place / f"{place.name}.json").exists() else os.listdir(place)
            files = [each for each in names if (place / each).is_file()]
            if file_path.name != min(files, default=""):
                return None
        folder = ToolFolder(place.name, _shown(place), str(place))
        candidate = load_folder(folder, self._settings)
        file: _Manifest = _Manifest.from_parent(parent, path=file_path)
        file.examples = examples_of(candidate, self._include)
        file.configuration = self._found
        return file


def _shown(path: Path) -> str:
    """Return a path relative to the current directory, if it is below it."""
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)


class _Manifest(pytest.File):
    """A manifest with its examples.

    Attributes:
        examples: all that it has.
        configuration: the settings by which its tool is loaded.
    """

    examples: Sequence[Example]
    configuration: Configuration

    def collect(self) -> Iterator[pytest.Item]:
        """Make an item of each example."""
        for each in self.examples:
            # as text: pytest 9.2 takes what is in brackets for parameters where it reads ids
            nodeid = f"{self.nodeid}::{each.name}"
            item: _Item = _Item.from_parent(self, name=each.name, nodeid=nodeid)
            item.example = each
            if each.skipped:
                item.add_marker(pytest.mark.skip(reason=each.skipped))
            item.extra_keyword_matches.add(str(each.document.get("description", "")))
            yield item

    def setup(self) -> None:
        """Load the tool, whose module is imported by that."""
        found = self.configuration
        registry = ToolRegistry.from_directory(
            self.examples[0].folder.path,
            import_timeout=found.import_timeout,
            locked=found.lock_file if found.locked else None,
        )
        self.tooler = Tooler(registry, policy=found.policy.but(approval="never"))


class _FailedError(Exception):
    """An example is not what happens; the message says why."""


class _Item(pytest.Item):
    """An example.

    Attributes:
        example: which.
    """

    example: Example

    def runtest(self) -> None:
        """Run the example.

        Raises:
            _FailedError: what happens is not what it says.
        """
        example = self.example
        if example.problem:
            raise _FailedError(f"{example.place}: {example.problem}")
        manifest = self.getparent(_Manifest)
        if manifest is None:
            raise ValueError("an example is collected of a manifest")
        with working_directory(example.folder) as directory:
            tested, _ = run_example(example, manifest.tooler, directory)
        if tested.status == "failed":
            first = f"{example.place}: {tested.first}"
            raise _FailedError("\n".join([first, *tested.details]))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Return what is shown of a failure: no traceback of ours, only what is different."""
        if isinstance(excinfo.value, _FailedError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Return where the example is, its line from 0."""
        return self.path, self.example.line - 1, self.example.name


MakeServer: TypeAlias = Callable[..., ScriptedServer]

_HAS_FAILED = pytest.StashKey[bool]()


@pytest.fixture(scope="session")
def sovl_registry(pytestconfig: pytest.Config) -> ToolRegistry:
    """The registry of the tools in the directories that pytest was given."""
    return open_registry(settings=pytestconfig.stash[FOUND], code=False)


@pytest.fixture(scope="session")
def sovl_tooler(sovl_registry: ToolRegistry, pytestconfig: pytest.Config) -> Tooler:
    """A Tooler that calls them: ``sovl_tooler.call_sync("weather", {"city": "Oslo"})``."""
    return Tooler(sovl_registry, policy=pytestconfig.stash[FOUND].policy)


@pytest.fixture
def sovl_server(request: pytest.FixtureRequest) -> Iterator[MakeServer]:
    """A function that starts a scripted provider: ``sovl_server([says("Hello.")])``.

    It takes what ``sovl_tools.testing.ScriptedServer`` takes. The servers end with the test, which
    fails if they have replies left that no one asked for.
    """
    servers = ExitStack()
    yield lambda *script, **options: servers.enter_context(ScriptedServer(*script, **options))
    # as in a block that has raised: a test that has failed need not say that it did not end
    if request.node.stash.get(_HAS_FAILED, False):
        error = AssertionError("the test has failed")
        servers.__exit__(AssertionError, error, None)
    servers.close()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    """Remember that a test has failed, for its fixtures."""
    report = yield
    if call.when == "call":
        item.stash[_HAS_FAILED] = call.excinfo is not None
    return report
