"""Live views: ``registry.select(…)`` as a registry."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sovl_tools import (
    ToolContext,
    ToolDefinition,
    Tooler,
    ToolRegistry,
)
from sovl_tools.configuration import configuration
from sovl_tools.model.catalog import CatalogChange
from tests.conftest import Write, manifest_of
from tests.schema.strategies import moderate
from tests.tables import check_each

OBJECT = {"type": "object", "properties": {}}
SECRET = "wipe_disk"


def made(name: str, *tags: str, function: Callable[..., Any] | None = None, **known: Any) -> Any:
    described = f"Do the {name.replace('_', ' ')}."
    function = function or (lambda: name)
    return ToolDefinition(name, described, OBJECT, function, tags=tags, **known)


def registry_of(*tools: Any) -> ToolRegistry:
    registry = ToolRegistry()
    for each in tools:
        registry.register(each)
    return registry


def desk() -> ToolRegistry:
    """Two tools that read, one of which calls the third, which doesn't."""

    async def tidy(context: ToolContext) -> Any:
        return (await context.tooler.call(SECRET)).value

    def look(context: ToolContext) -> Any:
        return context.tooler.call_sync(SECRET).value

    return registry_of(
        made("tidy", "read", function=tidy, activation_phrases=("tidy up",)),
        made("look", "read", function=look),
        made(SECRET, "write", activation_phrases=("wipe it",), instructions="Wipe with care."),
    )


_tools = st.dictionaries(
    st.sampled_from(["aws_get", "aws_put", "get", "put"]),
    st.tuples(
        st.lists(st.sampled_from(["read", "write"]), unique=True),
        st.sampled_from([None, "io", "net"]),
        st.booleans(),
    ),
)
_criteria: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {},
    optional={
        "tags": st.sampled_from(["read", ["read", "write"], []]),
        "category": st.sampled_from(["io", None]),
        "name_pattern": st.sampled_from(["aws_*", "get", ["get", "put"], re.compile("put"), []]),
        "annotations": st.sampled_from([{"read_only": True}, {"read_only": False}, {}]),
    },
)


@moderate
@given(st.lists(_tools, max_size=4), _criteria, _criteria)
def test_a_view_has_what_filter_returns_after_every_change(
    steps: list[dict[str, Any]], criteria: dict[str, Any], more: dict[str, Any]
) -> None:
    registry = ToolRegistry()
    view = registry.select(**criteria)
    nested = view.select(**more)
    heard: list[CatalogChange] = []
    view.subscribe(heard.append)
    for step in steps:
        before = {each.name: each for each in view}
        heard.clear()
        for name in [each.name for each in registry]:
            registry.unregister(name)
        for name, (tags, category, is_reading) in step.items():
            known = {"category": category, "annotations": {"read_only": is_reading}}
            registry.register(made(name, *tags, **known))
        found = registry.filter(**criteria)
        assert view.list_tools() == found
        assert nested.list_tools() == [each for each in registry.filter(**more) if each in found]
        names = {each.name for each in found}
        assert {*view.catalog.tools} == {each.name for each in view.catalog.candidates} == names
        assert all({*each.added, *each.updated, *each.removed} for each in heard)
        assert bool(heard) or before.keys() == names == set()


@check_each(
    "read",
    [
        lambda view: [*view],
        lambda view: view.list_tools(),
        lambda view: view.schemas(),
        lambda view: view.definitions("openai"),
        lambda view: view.definitions("prompt"),
        lambda view: view.definitions("openapi"),
        lambda view: view.prompt_instructions(),
        lambda view: view.match("wipe it"),
        lambda view: view.search("wipe disk"),
        lambda view: view.filter(tags="write"),
        lambda view: view.select(tags="write").list_tools(),
        lambda view: view.get(SECRET),
        lambda view: view.report,
        lambda view: view.catalog,
    ],
)
def test_nothing_that_reads_a_view_finds_another_tool(read: Callable[[Any], Any]) -> None:
    registry = desk()
    assert "wipe" in str(read(registry)).lower()
    assert "wipe" not in str(read(registry.select(tags="read"))).lower()


async def test_calls_see_the_view_and_tools_call_the_whole() -> None:
    registry = desk()
    view = registry.select(tags="read")
    for tooler in (Tooler(view), Tooler(registry).through(view)):
        for name in (SECRET, "wipe_dis"):
            for result in (
                tooler.call_sync(name),
                await tooler.call(name),
                *(each.result for each in tooler.map(name, [{}])),
                *await tooler.call_many([(name, {})]),
            ):
                assert result.error is not None
                assert result.error.kind == "unknown_tool"
                assert result.error.message == f"there's no tool {name!r}"
        stream = tooler.stream(SECRET)
        assert [each async for each in stream] == []
        assert stream.result is not None
        assert not stream.result.ok
        assert tooler.call_sync("look").value == SECRET
        assert (await tooler.call("tidy")).value == SECRET
        assert {*tooler.statistics()} == {"look", "tidy", SECRET}


def test_a_subscriber_hears_of_the_changes_of_the_view(write: Write, tmp_path: Path) -> None:
    def edit(name: str, *tags: str, **known: Any) -> None:
        write(name, manifest_of(name, tags=[*tags], **known))

    edit("ant", "read")
    edit("bee", "write")
    registry = ToolRegistry.from_directory(tmp_path / "tools")
    view = registry.select(tags="read")
    heard: list[CatalogChange] = []
    end = view.subscribe(heard.append)

    def changed() -> list[tuple[tuple[str, ...], ...]]:
        returned = view.reload()
        found: list[tuple[tuple[str, ...], ...]] = [each[:4] for each in heard]
        assert found == ([returned[:4]] if returned else [])
        heard.clear()
        return found

    catalog = view.catalog
    edit("bee", "write", description="Of no interest here.")
    write("cat", "{")
    assert changed() == []
    assert view.catalog is catalog
    edit("bee", "read", "write")
    assert changed() == [(("bee",), (), (), ())]
    edit("ant", "write")
    assert changed() == [((), (), ("ant",), ())]
    write("bee", code="def bee(text: str) -> str\n")
    assert changed() == [((), (), (), ("bee",))]
    assert [each.status for each in view.report.folders] == ["rejected"]
    assert "bee" in view
    shutil.rmtree(tmp_path / "tools" / "bee")
    assert changed() == [((), (), ("bee",), ())]
    end()
    edit("bee", "read")
    assert view.reload().added == ("bee",)
    assert heard == []
    with pytest.raises(TypeError, match="subscriber"):
        view.subscribe(changed.__name__)  # type: ignore[arg-type]


def test_a_view_of_the_configuration_is_a_criterion(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sovl-tools.toml").write_text(
        "[views]\nreading = {tags = ['read'], name = ['t*', 'x']}\n"
    )
    monkeypatch.chdir(tmp_path)
    view = desk().select(configuration().views["reading"])
    assert [each.name for each in view] == ["tidy"]
