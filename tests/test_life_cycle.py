"""Tools that are renamed, deprecated and removed, while callers still use their former names."""

from __future__ import annotations

import json
import logging
import re
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sovl_tools import AITool, ProcedureManager, ToolDefinition, Tooler, ToolRegistry, tool
from sovl_tools.dispatch.telemetry import JsonLines, log_calls
from sovl_tools.loading.lock import lock_of
from sovl_tools.loading.sources import collect
from sovl_tools.model.call import CallEvent
from sovl_tools.testing import calls, says
from tests.agent.conversations import Way, talk
from tests.conftest import Run, Write, manifest_of
from tests.schema.strategies import examples
from tests.tables import check_each

NAMES = tuple("abcd")
HELLO = {"text": "hello"}
TEXT = {"type": "string"}


@dataclass
class Model:
    """A tool as it should be: ``answer`` stays the same under every name."""

    name: str
    answer: str
    aliases: list[str] = field(default_factory=list)
    deprecated: bool = False
    enabled: bool = True

    def write(self, root: Path) -> None:
        folder = root / self.name
        folder.mkdir(parents=True, exist_ok=True)
        keys = {"aliases": self.aliases, "deprecated": self.deprecated, "enabled": self.enabled}
        manifest = manifest_of(self.name, description=f"Say {self.answer} words.", **keys)
        (folder / f"{self.name}.json").write_text(json.dumps(manifest))
        code = f"def {self.name}(text: str) -> str:\n    return {self.answer!r}\n"
        (folder / f"{self.name}.py").write_text(code)


@dataclass
class World:
    """The tools that there should be, and their folders."""

    root: Path
    tools: list[Model] = field(default_factory=list)
    listed: set[str] = field(default_factory=set)

    def do(self, action: str, number: int, name: str) -> None:
        """Change a tool, or add one if there isn't any."""
        is_free = all(name != each.name for each in self.tools)
        each = self.tools[number % len(self.tools)] if self.tools else None
        if each is None or action == "add":
            each = None
            if is_free:
                each = Model(name, f"answer {len(self.listed)} of {name}")
                self.tools.append(each)
        elif action == "rename" and is_free:
            shutil.rmtree(self.root / each.name)
            each.aliases = [*(a for a in each.aliases if a != name), each.name]
            each.name = name
        elif action == "deprecate":
            each.deprecated = not each.deprecated
        elif action == "disable":
            each.enabled = not each.enabled
        elif action == "forget" and each.aliases:
            each.aliases.pop(0)
        elif action == "remove":
            shutil.rmtree(self.root / each.name)
            self.tools.remove(each)
        if each in self.tools:
            each.write(self.root)
            self.listed.add(each.name)

    def owner(self, name: str) -> Model | None:
        """Return the tool that a name means: its own name wins, then the first that's enabled."""
        ordered = sorted(self.tools, key=lambda each: (not each.enabled, each.name))
        named = [each for each in ordered if each.name == name]
        return next(iter([*named, *(each for each in ordered if name in each.aliases)]), None)


def check(world: World, registry: ToolRegistry) -> None:
    """Call every name that was ever listed, and compare what is listed everywhere."""
    tooler = Tooler(registry)
    for name in sorted(world.listed):
        owner, result = world.owner(name), tooler.call_sync(name, HELLO)
        if owner is None:
            assert result.error is not None
            assert result.error.kind == "unknown_tool"
        elif not owner.enabled:
            assert result.error is not None
            assert (result.tool, result.error.kind) == (owner.name, "unavailable")
        else:
            assert (result.tool, result.value) == (owner.name, owner.answer)
    there = {each.name: each for each in world.tools if each.enabled}
    assert [each.name for each in registry] == sorted(there)
    exported = {each["name"]: each["description"] for each in registry.definitions("json-schema")}
    assert {name: words.startswith("Deprecated.") for name, words in exported.items()} == {
        name: each.deprecated for name, each in there.items()
    }
    found = [each.tool for each in registry.search("words")]
    assert sorted(found) == sorted(there)
    late = [there[name].deprecated for name in found]
    assert late == sorted(late)
    assert sorted(lock_of(collect([world.root]).folders).lock) == sorted(
        each.name for each in world.tools
    )


ACTIONS = ("add", "rename", "rename", "deprecate", "disable", "forget", "remove", "reload")
STEP = st.tuples(st.sampled_from(ACTIONS), st.integers(0, 3), st.sampled_from(NAMES))


@settings(max_examples=examples(300))
@given(st.lists(STEP, min_size=4, max_size=12))
@example([("rename", 0, "c"), ("add", 0, "a"), ("reload", 0, "a"), ("remove", 2, "a")])
@example([("rename", 0, "c"), ("reload", 0, "a"), ("add", 0, "a")])
@example([("rename", 0, "c"), ("add", 0, "a"), ("disable", 2, "a")])
@example([("rename", 0, "c"), ("deprecate", 0, "c"), ("disable", 0, "a")])
@example([("rename", 0, "c"), ("add", 0, "a"), ("rename", 2, "d"), ("disable", 0, "c")])
def test_a_name_leads_to_the_right_tool_or_to_the_reason(steps: list[tuple[str, int, str]]) -> None:
    with TemporaryDirectory() as place:
        world = World(Path(place))
        for name in ("a", "b"):
            world.do("add", 0, name)
        registry = ToolRegistry.from_directory(place)
        for step in steps:
            world.do(*step)
            if step[0] == "reload":
                registry.reload()
        registry.reload()
        check(world, registry)
        fresh = ToolRegistry.from_directory(place)
        assert fresh.catalog.aliases == registry.catalog.aliases


@pytest.fixture
def registry(write: Write, tmp_path: Path) -> ToolRegistry:
    """Return the registry of a tool ``say`` that was called ``tell``."""
    write("say", manifest_of("say", aliases=["tell", "tell-it"]))
    return ToolRegistry.from_directory(tmp_path / "tools")


async def test_every_way_to_call_takes_an_alias(registry: ToolRegistry) -> None:
    events: list[CallEvent] = []
    seen: list[str] = []

    def look(call: Any, following: Any) -> Any:
        seen.append(call.name)
        return following(call)

    with Tooler(registry, hooks=[look], observers=[events.append]) as tooler:
        results = [
            tooler.call_sync("tell", HELLO),
            await tooler.call("tell-it", HELLO),
            *await tooler.call_many([("tell", HELLO)]),
            *(each.result for each in tooler.map("tell", [HELLO])),
            tooler.through(registry.select(name="say")).call_sync("tell", HELLO),
        ]
        assert list(tooler.stream("tell", HELLO)) == ["hello"]
    assert [(each.tool, each.value) for each in results] == [("say", "hello")] * 5
    assert [(each.tool, each.alias) for each in events if each.alias != "tell"] == [
        ("say", "tell-it")
    ]
    assert seen == ["say"] * 6
    assert tooler.statistics().keys() == {"say"}


def test_a_call_by_an_alias_is_logged_once(
    registry: ToolRegistry, caplog: pytest.LogCaptureFixture
) -> None:
    tooler = Tooler(registry)
    with caplog.at_level(logging.WARNING, "sovl_tools"):
        for name in ("say", "tell", "tell", "nothing"):
            tooler.call_sync(name, HELLO)
    assert caplog.messages == ["tool say was called by its alias tell; use its own name"]


def test_what_is_written_of_a_call_has_both_names(
    registry: ToolRegistry, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    lines = tmp_path / "calls.jsonl"
    with caplog.at_level(logging.INFO, "sovl_tools.calls"), JsonLines(lines) as writer:
        Tooler(registry, observers=[log_calls, writer]).call_sync("tell", HELLO)
    assert re.match("say succeeded in .*, called as tell, call ", caplog.messages[-1])
    written = json.loads(lines.read_text(encoding="utf-8"))
    assert (written["tool"], written["alias"]) == ("say", "tell")


def test_a_view_has_the_aliases_of_its_tools(registry: ToolRegistry) -> None:
    assert registry.select(name="say")["tell"].name == "say"
    with pytest.raises(KeyError):
        registry.select(name="other")["tell"]
    assert "tell" not in [each.name for each in registry]
    assert not registry.filter(name="tell")
    assert not registry.search("tell it")
    assert not registry.match("tell it")


def test_a_procedure_calls_by_an_alias(registry: ToolRegistry) -> None:
    steps = [
        {"action": "tool", "tool": "tell", "arguments": HELLO, "save_as": "said"},
        {"action": "return", "value": "{{ said }}"},
    ]
    procedure = {"name": "report", "description": "Report.", "steps": steps}
    manager = ProcedureManager(registry)
    assert [each.code for each in manager.check(procedure)] == ["ST769"]
    assert manager.run_sync(procedure) == "hello"


def test_a_model_may_call_by_an_alias_but_is_not_told_of_it(registry: ToolRegistry) -> None:
    script = [calls(("tell", HELLO)), says("Done.")]
    with talk(Way("openai"), script, tools=registry) as to:
        assert to.say("Hello", tools=["tell"], tool_choice="tell") == "Done."
        assert to.results() == ["hello"]
    body = to.bodies[0]
    assert [each["function"]["name"] for each in body["tools"]] == ["say"]
    assert body["tool_choice"]["function"]["name"] == "say"


@pytest.mark.parametrize(
    "command", ["call tell --args {}", "show tell", "test tell", "map tell --inputs inputs.jsonl"]
)
def test_commands_load_the_tool_behind_an_alias(
    command: str, write: Write, run: Run, tmp_path: Path
) -> None:
    properties = {"text": {"type": "string", "description": "What.", "default": "hello"}}
    parameters = {"type": "object", "properties": properties}
    example = [{"input": {}, "output": "hello"}]
    write("say", manifest_of("say", aliases=["tell"], parameters=parameters, examples=example))
    write("other", code="raise SystemExit('it was imported')")
    (tmp_path / "inputs.jsonl").write_text("{}")
    done = run(*command.split())
    assert done.code == 0, done.err
    assert any(words in done.out for words in ("say  ", "hello", "1 passed"))


def test_the_name_of_another_tool_wins(
    registry: ToolRegistry, write: Write, tmp_path: Path
) -> None:
    write("tell", code="def tell(text: str) -> str:\n    return text.upper()\n")
    change = registry.reload()
    assert [each.message for each in change.diagnostics if each.code == "ST801"]
    assert Tooler(registry).call_sync("tell", HELLO).value == "HELLO"
    assert Tooler(registry).call_sync("tell-it", HELLO).value == "hello"
    write("tell", "{")
    fresh = ToolRegistry.from_directory(tmp_path / "tools")
    result = Tooler(fresh).call_sync("tell", HELLO)
    assert result.error is not None
    assert result.error.kind == "unavailable"


def test_tools_in_code_have_aliases_too() -> None:
    class Say(AITool):
        name = "say"
        description = "Say something."
        parameters_schema: ClassVar = {"properties": {"text": TEXT}, "required": ["text"]}
        aliases: ClassVar = ["tell"]
        deprecated = "it is too loud"

        def execute(self, text: str) -> str:
            return text

    @tool(aliases=["yell"], replaced_by="say", removed_in="2.0")
    def shout(text: str) -> str:
        """Shout something."""
        return text.upper()

    registry = ToolRegistry()
    registry.register(Say())
    registry.register(shout)
    assert Tooler(registry).call_sync("tell", HELLO).value == "hello"
    assert Tooler(registry).call_sync("yell", HELLO).value == "HELLO"
    listed = {each["name"]: each for each in registry.definitions("mcp")}
    assert listed["say"]["description"] == "Deprecated: it is too loud. Say something."
    assert listed["shout"]["_meta"] == {
        "sovl-tools/deprecation": {"replaced_by": "say", "removed_in": "2.0"}
    }
    paths = registry.definitions("openapi")["paths"]
    assert [each["post"]["deprecated"] for each in paths.values()] == [True, True]


def test_a_model_is_not_offered_what_is_replaced_by_another_offer() -> None:
    def named(name: str, **keys: Any) -> ToolDefinition:
        schema = {"type": "object", "properties": {}}
        return ToolDefinition(name, f"Tell the {name}.", schema, lambda: name, **keys)

    registry = ToolRegistry()
    for each in (
        named("oldest", replaced_by="older"),
        named("older", replaced_by="new"),
        named("new", aliases=("newest",)),
        named("one", replaced_by="two"),
        named("two", replaced_by="one"),
        named("gone", replaced_by="nothing"),
    ):
        registry.register(each)
    with talk(Way("openai"), [says("Yes.")] * 3, tools=registry) as to:
        to.say("Hello")
        to.say("Hello", tools=["oldest", "older"])
        to.say("Hello", tool_choice="older")
    offers = [[each["function"]["name"] for each in body["tools"]] for body in to.bodies]
    assert offers == [
        ["gone", "new", "one", "two"],
        ["older"],
        ["gone", "new", "one", "two", "older"],
    ]


PLACE: dict[str, Any] = {
    "city": {"type": "string", "x-replaced-by": "place"},
    "days": {"type": "integer", "deprecated": True, "x-replaced-by": "hours"},
    "place": {"type": "string"},
    "hours": {"type": "integer"},
}


@check_each(
    ("arguments", "expected"),
    [
        ({"city": "Bergen"}, {"place": "Bergen"}),
        ({"city": "Bergen", "days": "3"}, {"place": "Bergen", "hours": 3}),
        ({"city": "Bergen", "place": "Oslo"}, {"city": "Bergen", "place": "Oslo"}),
        ({"city": "A", "place": "B", "days": 3}, {"city": "A", "place": "B", "hours": 3}),
        ({"city": 1.5}, None),
        ({"place": "Oslo"}, {"place": "Oslo"}),
    ],
)
def test_lenient_arguments_have_the_new_names_of_parameters(
    arguments: dict[str, Any], expected: dict[str, Any] | None
) -> None:
    def weather(**given: Any) -> Any:
        return given

    schema = {"type": "object", "properties": PLACE, "additionalProperties": False}
    registry = ToolRegistry()
    registry.register(ToolDefinition("weather", "Tell it.", schema, weather))
    tooler = Tooler(registry, coerce="lenient")
    result = tooler.call_sync("weather", arguments)
    assert result.value == expected
    assert bool(result.repairs) == (expected not in (None, arguments))
    strict = tooler.call_sync("weather", {"city": "Bergen"}, coerce="strict")
    assert (strict.value, strict.repairs) == ({"city": "Bergen"}, ())
