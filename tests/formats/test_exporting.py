"""Tools in a provider's format, from a registry."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sovl_tools import Tooler, ToolNotFoundError, ToolRegistry, tool
from sovl_tools.formats.base import FORMATS, STRICT, Shape, format_of
from sovl_tools.formats.export import Export, Target
from sovl_tools.loading.exporting import checked, exported
from tests.conftest import REPOSITORY, Write, manifest_of
from tests.formats.tools import TEXT, arguments
from tests.formats.tools import tool as made


def shapes(export: Any) -> Mapping[str, Shape]:
    """Return what an export is made of."""
    assert isinstance(export, Export)
    return export.shapes


@pytest.fixture
def registry() -> ToolRegistry:
    return ToolRegistry.from_directory(REPOSITORY / "tools")


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_has_all_tools(registry: ToolRegistry, name: str) -> None:
    export = registry.export(name)
    assert set(shapes(export)) == set(registry.catalog.tools)
    assert registry.definitions(name) is export.definitions
    assert name in repr(export)
    text = json.dumps(export.definitions)
    assert all(each.name in text for each in registry)


def test_a_format_that_is_not_there_is_refused_with_a_suggestion(registry: ToolRegistry) -> None:
    with pytest.raises(ValueError, match="there's no format 'opnai'; did you mean 'openai'"):
        registry.export("opnai")
    with pytest.raises(ValueError, match="'openai-strict'; ask for 'openai' and strict"):
        registry.export("openai-strict")
    with pytest.raises(ValueError, match="there are json-schema, openai"):
        format_of("zzz")


@pytest.mark.parametrize("name", sorted(FORMATS.keys() - STRICT))
def test_a_format_without_a_strict_form_rejects_strict(registry: ToolRegistry, name: str) -> None:
    message = f"there's no strict {name}; there is of anthropic, openai"
    with pytest.raises(ValueError, match=message):
        registry.definitions(name, strict=True)


def test_some_tools_come_in_the_order_in_which_they_are_wanted(registry: ToolRegistry) -> None:
    names = ["read_text_file", "calculate"]
    assert [each["name"] for each in registry.definitions("anthropic", tools=names)] == names
    assert registry.definitions("anthropic", tools=[]) == []
    with pytest.raises(ToolNotFoundError):
        registry.export("anthropic", tools=["nobody"])


def test_an_export_is_made_once_and_again_of_what_has_changed() -> None:
    registry = ToolRegistry()
    first, second = (made(name=name) for name in ("first", "second"))
    registry.register(first)
    registry.register(second)
    before = registry.export("openai")
    assert registry.export("openai") is before
    assert registry.export("openai", strict=True) is not before
    other = made(arguments(other=TEXT), name="second")
    registry.register(other, override=True)
    after = registry.export("openai")
    assert after is not before
    assert shapes(after)["second"].tool is other
    assert registry.export("openai") is after


def test_definitions_share_nothing_with_the_tools() -> None:
    registry = ToolRegistry()
    registry.register(made(arguments(text={**TEXT, "enum": ["a"]})))
    for name in ("json-schema", "openai", "anthropic", "gemini", "mcp"):
        parameters = json.dumps(registry["echo"].parameters)
        definition = registry.definitions(name)[0]
        _spoil(definition)
        assert json.dumps(registry["echo"].parameters) == parameters
    _spoil(registry.schemas()[0])
    assert registry.schemas() == registry.schemas()


def _spoil(value: Any) -> None:
    if isinstance(value, dict):
        for each in list(value.values()):
            _spoil(each)
        value.clear()
    elif isinstance(value, list):
        for each in value:
            _spoil(each)
        value.clear()


class Layers:
    """Layers that come and go."""

    def __init__(self) -> None:
        self.names: Any = ["roads"]

    @tool(params={"layer": {"enum": lambda self: self.names}})
    def show(self, layer: str) -> str:
        """Show a layer."""
        return layer


def test_what_functions_make_is_asked_each_time(caplog: pytest.LogCaptureFixture) -> None:
    layers, registry = Layers(), ToolRegistry()
    registry.register(layers)
    registry.register(made())
    first = registry.export("openai", strict=True)
    layers.names = ["rivers"]
    second = registry.export("openai", strict=True)
    enums = [
        each.definitions[1]["function"]["parameters"]["properties"]["layer"]["enum"]
        for each in (first, second)
    ]
    assert enums == [["roads"], ["rivers"]]
    layers.names = 5
    with caplog.at_level(logging.WARNING, "sovl_tools"):
        export = registry.export("openai")
    assert [each["function"]["name"] for each in export.definitions] == ["echo"]
    (found,) = export.diagnostics
    assert (found.code, found.severity, found.tool) == ("ST908", "error", "show")
    assert found.path.endswith("test_exporting.py")
    assert "show is omitted" in caplog.text


def test_a_schema_that_a_function_makes_has_to_be_one() -> None:
    registry = ToolRegistry()
    odd = made(arguments(text={**TEXT, "pattern": lambda: "("}))
    registry.register(replace(odd, is_dynamic=True))
    assert registry.definitions("openai") == []
    (found,) = registry.export("openai").diagnostics
    assert found.code == "ST908"
    assert registry.schemas() == []


def test_arguments_are_restored_whatever_they_are() -> None:
    registry = ToolRegistry()
    registry.register(made(arguments("text", text=TEXT, more=TEXT)))
    registry.register(made(arguments("text", text=TEXT), name="whole"))
    export = registry.export("openai-responses", strict=True)
    for given in (
        {"text": "a", "more": None},
        '{"text": "a", "more": null}',
        b'{"text":"a","more":null}',
    ):
        assert export.restore("echo", given) == {"text": "a"}
    for given in ("no JSON", "[1]", None, [1], '{"text": "a"}', "[" * 100_000):  # type: ignore[assignment]
        assert export.restore("whole", given) is given
        if given != '{"text": "a"}':
            assert export.restore("echo", given) is given
    assert export.restore("nobody", {"a": None}) == {"a": None}
    assert registry.export("openai").restore("echo", {"more": None}) == {"more": None}


def test_restored_arguments_can_be_called_with(registry: ToolRegistry) -> None:
    export = registry.export("openai", strict=True)
    sent = {"left": 1, "operator": "eq", "right": 1, "ignore_case": None}
    strict = shapes(export)["compare_values"].definition["function"]["parameters"]
    assert strict["required"] == [*sent]
    assert Tooler(registry).call_sync("compare_values", export.restore("compare_values", sent)).ok
    assert not Tooler(registry).call_sync("compare_values", sent).ok


def test_diagnostics_have_their_places_in_the_manifest(write: Write, tmp_path: Path) -> None:
    manifest = manifest_of("echo")
    manifest["parameters"]["properties"]["text"]["minLength"] = 2
    folder = write("echo", manifest)
    (found,) = (
        ToolRegistry.from_directory(tmp_path / "tools").export("openai", strict=True).diagnostics
    )
    lines = (folder / "echo.json").read_text().splitlines()
    assert (found.code, found.tool, found.path) == (
        "ST902",
        "echo",
        f"{tmp_path}/tools/echo/echo.json",
    )
    assert '"minLength"' in lines[found.line - 1]
    assert found.message == "openai-strict: minLength is in the description only"


def test_what_concerns_all_tools_has_the_place_of_the_first() -> None:
    registry = ToolRegistry()
    for number in range(129):
        registry.register(made(name=f"t{number:03}"))
    (found,) = registry.export("openai").diagnostics
    assert (found.code, found.tool, found.path) == ("ST905", None, "tests/formats")
    (found,) = exported(list(registry), Target.of("openai")).diagnostics
    assert found.path == "."


def test_a_tool_that_is_too_deep_stops_no_other() -> None:
    registry = ToolRegistry()
    registry.register(made())
    deep: Any = TEXT
    for _ in range(3000):
        deep = {"type": "array", "items": deep}
    odd = made(arguments(text=deep), name="odd")
    export = exported([odd, registry["echo"]], Target.of("openai-strict"))
    assert [each["function"]["name"] for each in export.definitions] == ["echo"]
    assert [each.code for each in export.diagnostics] == ["ST908"]


def test_targets_are_formats_and_strict_ones() -> None:
    names = [*FORMATS, *(f"{name}-strict" for name in STRICT)]
    assert [str(Target.of(name)) for name in names] == names
    with pytest.raises(ValueError, match="there's no strict gemini; there is of anthropic, openai"):
        Target.of("gemini-strict")
    with pytest.raises(ValueError, match="there's no format 'zzz'"):
        Target.of("zzz-strict")


def test_manifests_alone_are_checked_for_targets(write: Write, tmp_path: Path) -> None:
    manifest = manifest_of("echo")
    manifest["parameters"]["properties"]["a b"] = TEXT
    write("echo", manifest, 'def echo(**arguments):\n    """Say."""\n')
    write("broken", code="1 / 0\n")
    candidates = ToolRegistry.from_directory(tmp_path / "tools").catalog.candidates
    found = checked(candidates, ["anthropic", "gemini", "json-schema"])
    assert [(each.code, each.message.partition(":")[0]) for each in found] == [
        ("ST906", "anthropic"),
        ("ST907", "gemini"),
    ]
    (tmp_path / "tools" / "echo" / "echo.json").unlink()
    assert checked(candidates, ["anthropic"]) == ()
