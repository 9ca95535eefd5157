"""Defaults that are computed when a module runs: they are never shown, written or compared."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from sovl_tools.signature.inference import infer
from tests.conftest import Run, Write
from tests.tables import check_each

SECRET = "s3cret-value"
HEAD = """import math
import os
import sys
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from enum import Enum
from pathlib import Path

from settings_of_test import IMPORTED, IMPORTED_KEY
import settings_of_test as settings

LIMIT = 10
TWICE = LIMIT * 2
LEVELS = {"low": 1}
CHANGED = {"key": "none"}
CHANGED["key"] = os.environ["THE_KEY"]
GROWN = []
GROWN.append(os.environ["THE_KEY"])
KEY = os.environ["THE_KEY"]
if os.name == "nt":
    MAYBE = 1
else:
    MAYBE = 2
ITSELF = 1
ITSELF = ITSELF


class Color(Enum):
    RED = "red"


@dataclass(frozen=True)
class Point:
    x: int = 0
    y: int = 0


@dataclass
class Keyed:
    key: str = os.environ["THE_KEY"]
    size: int = 1


class Settings:
    key = KEY
    limit = 3


SETTINGS = Settings()
"""
SETTINGS = 'import os\n\nIMPORTED = 7\nIMPORTED_KEY = os.environ["THE_KEY"]\n'
CONSTANT = {
    '"text"': "text",
    "3": 3,
    "-1.5": -1.5,
    "60 * 60": 3600,
    "True": True,
    "[]": [],
    '["a", "b"]': ["a", "b"],
    '{"a": [1]}': {"a": [1]},
    "LIMIT": 10,
    "IMPORTED": 7,
    "settings.IMPORTED": 7,
    "int('5')": 5,
    "Color.RED": "red",
    'Decimal("1.5")': "1.5",
    "date(2025, 1, 1)": "2025-01-01",
    'Path("out") / "a"': "out/a",
    "Point(1, y=2)": {"x": 1, "y": 2},
    'Keyed("a")': {"key": "a", "size": 1},
}
"""Defaults by their expressions, as a schema shows them."""
COMPUTED = (
    'os.environ["THE_KEY"]',
    'os.environ.get("THE_KEY", "")',
    'os.environ.get("NO_SUCH_VARIABLE", "")',
    'os.getenv("NO_SUCH_VARIABLE") or "x"',
    'os.environ.get("THE_KEY") == "1"',
    "KEY",
    'f"Bearer {KEY}"',
    "[KEY]",
    "str(KEY)",
    'CHANGED["key"]',
    "CHANGED",
    "GROWN",
    "Keyed()",
    "Keyed(size=2)",
    "IMPORTED_KEY",
    "settings.IMPORTED_KEY",
    "SETTINGS.key",
    "Settings.key",
    "Path.home()",
    "Path(__file__)",
    "date.today()",
    "os.getpid()",
    "MAYBE",
    "ITSELF",
)  # fmt: skip
TYPES = {"date": "date", "timedelta": "timedelta", "Decimal": "Decimal", "Path": "Path"}


def annotation_of(expression: str) -> str:
    """Return the annotation to write for a default."""
    name = expression.partition("(")[0].partition(".")[0]
    known = {**TYPES, "Point": "Point", "Keyed": "Keyed"}
    if expression == "Color.RED":
        return "Color"
    return known.get(name, "object")


def run_module(text: str, directory: Path) -> ModuleType:
    """Import a module of this text from a file."""
    path = directory / "module_of_test.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location("module_of_test", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    if spec.name in sys.modules:
        sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Set the secret, and make a module that reads it importable; return the directory."""
    monkeypatch.setenv("THE_KEY", SECRET)
    (tmp_path / "settings_of_test.py").write_text(SETTINGS)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "settings_of_test", raising=False)
    monkeypatch.setitem(sys.modules, "module_of_test", ModuleType("module_of_test"))
    return tmp_path


def schemas(expressions: list[str], directory: Path) -> list[dict[str, Any]]:
    """Return the schemas of parameters with these defaults, each given in three ways."""
    parameters = [f"p{n}: {annotation_of(each)} = {each}" for n, each in enumerate(expressions)]
    one_line = ", ".join(parameters)
    lines = "".join(f"    {each},\n" for each in parameters)
    text = f'''{HEAD}

def line({one_line}):
    """Take them on one line."""


def lines(
    *,
{lines}):
    """Take them on many lines."""
    p0 = ""


class Holder:
    OWN = LIMIT + 1
    OWN_KEY = KEY

    def method(self, {one_line}):
        """Take them in a method."""

    def own(self, limit: int = OWN, key: str = OWN_KEY):
        """Take what the class has."""
'''
    module = run_module(text, directory)
    own = infer(module.Holder().own).parameters["properties"]
    assert own == {"limit": {"type": "integer", "default": 11}, "key": {"type": "string"}}
    functions = (module.line, module.lines, module.Holder().method)
    return [infer(each).parameters["properties"] for each in functions]


def test_constant_expressions_are_shown(settings: Path) -> None:
    for properties in schemas([*CONSTANT], settings):
        shown = [each.get("default") for each in properties.values()]
        assert dict(zip(CONSTANT, shown, strict=True)) == CONSTANT


def test_computed_values_are_not_shown(settings: Path) -> None:
    for properties in schemas([*COMPUTED], settings):
        shown = [
            each
            for each, schema in zip(COMPUTED, properties.values(), strict=True)
            if "default" in schema
        ]
        assert shown == []


@check_each("value", [SECRET, "short", 5])
def test_without_source_a_value_of_the_environment_is_computed(
    value: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("THE_KEY", SECRET)
    monkeypatch.setenv("ANOTHER", "short")
    names: dict[str, Any] = {"VALUE": value}
    exec("def tool(key: object = VALUE): ...", names)
    assert infer(names["tool"]).parameters["properties"]["key"].get("default") == (
        None if value == SECRET else value
    )


FIELDS = '''
import os
import time
from dataclasses import dataclass, field
from typing import NamedTuple

from pydantic import BaseModel, Field


@dataclass
class Base:
    key: str = os.environ["THE_KEY"]
    size: int = field(default=3)


@dataclass
class Data(Base):
    at: float = field(default=time.time())
    names: list[str] = field(default_factory=list)


class Pair(NamedTuple):
    key: str = os.environ.get("THE_KEY", "")
    size: int = 3


class Model(BaseModel):
    key: str = os.environ["THE_KEY"]
    other: str = Field(default=os.environ["THE_KEY"], description="Another.")
    third: str = Field(os.environ["THE_KEY"], alias="named")
    size: int = Field(default=3, ge=0)
    data: Data = Data()
    inner: "Model | None" = None


def call(data: Data, pair: Pair, model: Model, models: list[Model]) -> None:
    """Take them."""
'''


def test_computed_values_of_fields_are_not_shown(settings: Path) -> None:
    schema = infer(run_module(FIELDS, settings).call).parameters
    text = json.dumps(schema)
    assert SECRET not in text
    objects = [*schema["properties"].values(), *schema.get("$defs", {}).values()]
    sizes = [each["properties"]["size"] for each in objects if "properties" in each]
    assert len(sizes) > 3
    assert [each["default"] for each in sizes] == [3] * len(sizes)
    assert text.count('"default"') == len(sizes) + text.count('"default": null')


CODE = '''import os

from sovl_tools import tool


def {name}(text: str, key: str = os.environ.get("THE_KEY", ""), size: int = 3) -> str:
    """Say something.

    Args:
        text: What to say.
        key: The key.
        size: How often.
    """
    return text


@tool(name="decorated")
def decorated(text: str, key: str = os.environ.get("THE_KEY", "")) -> str:
    """Say something."""
    return text


class Speaker:
    def speak(self, text: str, key: str = os.environ.get("THE_KEY", "")) -> str:
        """Say something."""
        return text
'''
FORMATS = ("json-schema", "openai", "anthropic", "gemini", "mcp", "openapi", "prompt", "markdown")


def test_no_command_prints_a_computed_default(run: Run, write: Write, tmp_path: Path) -> None:
    place = write("say", None, CODE.format(name="say"))
    (place / "say.json").unlink()
    (tmp_path / "said.py").write_text(CODE.format(name="said"))
    commands = [
        ("sync",), ("sync", "--check"), ("validate",), ("validate", "--no-import"), ("show", "say"),
        ("list", "--format", "json"), *(("export", "--format", each) for each in FORMATS),
        ("new", "--from", "said:said"),
    ]  # fmt: skip
    for command in commands:
        done = run(*command, THE_KEY=SECRET)
        assert SECRET not in done.out + done.err
        assert done.code == 0, (command, done)
    for name in ("say", "said"):
        written = json.loads((tmp_path / "tools" / name / f"{name}.json").read_text())
        properties = written["parameters"]["properties"]
        assert properties["key"] == {"type": "string", "description": "The key."}
        assert properties["size"]["default"] == 3
        assert written["parameters"]["required"] == ["text"]
