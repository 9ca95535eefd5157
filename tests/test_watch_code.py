"""A registry that follows directories of modules and of procedures."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from sovl_tools import CatalogChange, Tooler, ToolRegistry
from tests.loading.folders import News
from tests.loading.plugins import decorated

YAML = "name: {}\ndescription: d\nsteps: [{{action: return, value: {}}}]\n"


class Kind:
    """A way in which tools are from files of a directory."""

    def __init__(self, suffix: str, source: Callable[[str, int], str], broken: str) -> None:
        self.suffix = suffix
        self.source = source
        self.broken = broken

    def save(self, directory: Path, name: str, answer: int) -> None:
        """Save a tool that answers with a number, in one moment."""
        self.put(directory, name, self.source(name, answer))

    def put(self, directory: Path, name: str, text: str) -> None:
        directory.mkdir(exist_ok=True)
        draft = directory / ".draft"
        draft.write_text(text)
        draft.replace(directory / f"{name}{self.suffix}")


MODULES = Kind(".py", decorated, "def")
PROCEDURES = Kind(".yaml", YAML.format, "steps: [")
each_kind = pytest.mark.parametrize("kind", [MODULES, PROCEDURES], ids=["modules", "procedures"])


def registry_of(kind: Kind, directory: Path) -> tuple[ToolRegistry, News]:
    registry = ToolRegistry()
    load = registry.load_modules if kind is MODULES else registry.load_procedures
    load(directory)
    return registry, News(registry)


def answer_of(registry: ToolRegistry, name: str) -> object:
    return Tooler(registry).call_sync(name).value if name in registry else None


def until_it_answers(registry: ToolRegistry, news: News, **expected: object) -> None:
    """Wait for changes until tools answer as expected, None those that are not there."""
    while any(answer_of(registry, name) != answer for name, answer in expected.items()):
        news.next()


def until_it_is_rejected(news: News) -> CatalogChange:
    """Return the first change in which something is."""
    return next(change for change in iter(news.next, None) if change.rejected)


@pytest.mark.parametrize(
    ("kind", "poll"),
    [(MODULES, False), (PROCEDURES, False), (MODULES, True)],
    ids=["modules", "procedures", "modules, polled"],
)
def test_what_is_saved_is_served(kind: Kind, poll: bool, tmp_path: Path) -> None:  # noqa: FBT001
    directory = tmp_path / "code"
    kind.save(directory, "a", 1)
    registry, news = registry_of(kind, directory)
    with registry.watch(poll=poll):
        kind.save(directory, "a", 2)
        until_it_answers(registry, news, a=2)
        kind.save(directory, "b", 3)
        until_it_answers(registry, news, a=2, b=3)
        (directory / f"a{kind.suffix}").unlink()
        until_it_answers(registry, news, a=None, b=3)
    kind.save(directory, "b", 4)
    assert answer_of(registry, "b") == 3


@each_kind
def test_a_broken_edit_leaves_the_version_before_in_place(kind: Kind, tmp_path: Path) -> None:
    directory = tmp_path / "code"
    kind.save(directory, "a", 1)
    registry, news = registry_of(kind, directory)
    with registry.watch():
        kind.put(directory, "a", kind.broken)
        change = until_it_is_rejected(news)
        assert change.rejected == ("a",)
        assert [each.path for each in change.diagnostics] == [str(directory / f"a{kind.suffix}")]
        assert answer_of(registry, "a") == 1
        kind.save(directory, "a", 2)
        until_it_answers(registry, news, a=2)


def test_a_change_of_a_watched_library_runs_all_modules_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    library, directory = tmp_path / "words_of_plugins.py", tmp_path / "code"
    library.write_text("WORD = 1\n")
    MODULES.put(directory, "_words", "from words_of_plugins import WORD\n")
    source = decorated("a").replace("return ''", "return WORD")
    MODULES.put(directory, "a", f"from ._words import WORD\n{source}")
    MODULES.save(directory, "b", 1)
    registry, news = registry_of(MODULES, directory)
    with registry.watch(libraries=[library]):
        library.write_text("WORD = 2\n")
        until_it_answers(registry, news, a=2)
        library.write_text("word = 3\n")
        until_it_is_rejected(news)
        assert answer_of(registry, "a") == 2
        library.write_text("WORD = 4\n")
        until_it_answers(registry, news, a=4)
    del sys.modules["words_of_plugins"]
