from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from tests.conftest import Run, Write

SERVICE = '''
from dataclasses import dataclass


@dataclass
class Place:
    """A place.

    Attributes:
        city: Its name.
    """

    city: str


async def forecast(place: Place, days: int = 3) -> dict:
    """Tell the weather.

    Args:
        place: Where.
        days: How many days.
    """
    return {"city": place.city, "days": days}


def odd(stream: object()): ...


class Service: ...
'''


@pytest.fixture
def service(tmp_path: Path) -> Path:
    """A package with functions, in the current directory."""
    place = tmp_path / "weather"
    place.mkdir()
    (place / "service.py").write_text(SERVICE)
    (place / "broken.py").write_text("raise SystemExit(7)\n")
    return tmp_path


def everything(root: Path) -> list[str]:
    return sorted(
        path.relative_to(root).as_posix()
        for path in root.rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    )


def test_a_new_tool_validates_and_can_be_called(run: Run) -> None:
    done = run("new", "get_weather", "--param", "city:string", "--param", "days:integer=3")
    assert (done.code, done.out) == (
        0,
        "tools/get_weather/get_weather.json\ntools/get_weather/get_weather.py\ntools/tool.schema.json\n",
    )
    assert done.err == (
        "next: write the function in get_weather.py, then: sovl-tools call get_weather city=text\n"
    )
    # the tool's description and those of its parameters ask for better ones
    assert run("validate", "--format", "concise").out.endswith(": 1 loaded; 3 warnings\n")
    assert run("validate", "--ignore", "ST221").out.endswith(": 1 loaded; no problems\n")
    assert run("call", "get_weather", "city=Oslo").out == '{"city": "Oslo", "days": 3}\n'
    assert run("sync", "--check").code == 0


def test_every_type_has_a_sample_in_the_call(run: Run) -> None:
    kinds = ["string", "integer", "number", "boolean", "array", "object"]
    options = [part for kind in kinds for part in ("--param", f"a_{kind}:{kind}")]
    done = run("new", "echo", *options, "--tools", "my tools", "--async")
    command = done.err.strip().partition("sovl-tools ")[2]
    assert command.endswith("'a_array=[]' 'a_object={}' --tools 'my tools'")
    called = run(
        "call", "echo", "a_string=text", "a_integer=1", "a_number=1.5", "a_boolean=true",
        "a_array=[]", "a_object={}", "--tools", "my tools",
    )  # fmt: skip
    assert called.code == 0
    assert run("validate", "my tools", "--ignore", "ST221").out.endswith("; no problems\n")


def test_the_directory_is_the_first_that_is_configured(run: Run, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.sovl-tools]\npaths = ["one", "two"]\n')
    assert run("new", "echo").out.startswith("one/echo/echo.json\n")
    assert run("new", "echo", SOVL_TOOLS_PATH="three:four").out.startswith("three/echo/")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (
            "my-tool",
            "'my-tool' can't name a tool: it is not an ASCII identifier; call it 'my_tool'",
        ),
        ("class", "'class' can't name a tool: it is a Python keyword; call it 'class_'"),
        ("_own", "folders whose name begins with '_' are not tools; call it 'own'"),
        ("--", "Missing argument"),
        ("../up", "can't name a tool: it is not an ASCII identifier; call it 'up'"),
        ("日本", "can't name a tool: it is not an ASCII identifier\n"),
    ],
)
def test_a_name_must_fit(name: str, words: str, run: Run, tmp_path: Path) -> None:
    done = run("new", name)
    assert (done.code, done.out) == (2, "")
    assert words in done.err
    assert everything(tmp_path) == []


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--param", "city"], "'city' is not NAME:TYPE"),
        (["--param", "a:string", "--param", "a:int"], "a parameter is named twice"),
        (["--param", "a:string", "--from", "json:dumps"], "leave --param and --async out"),
        (["--async", "--from", "json:dumps"], "leave --param and --async out"),
        (["--description", "\udcff"], "the description is not UTF-8"),
        (["--from", "json"], "'json' is not MODULE:FUNCTION"),
        (["--from", "json:a.b"], "'json:a.b' is not MODULE:FUNCTION"),
        (["--from", "nowhere:f"], "nowhere can't be imported: ModuleNotFoundError"),
        (["--from", "..up:f"], "'..up:f' is not MODULE:FUNCTION"),
        (["--from", "__main__.x:f"], "can't be imported"),
        (["--from", "weather.broken:f"], "weather.broken can't be imported: SystemExit: 7"),
        (["--from", "weather.service:forcast"], "no 'forcast'; did you mean 'forecast'?"),
        (["--from", "weather.service:nothing"], "weather.service has no 'nothing'\n"),
        (["--from", "weather.service:Service"], "weather.service:Service is not a function"),
        (["--from", "weather.service:__name__"], "is not a function"),
        (["--from", "weather.service:odd"], "odd: 'stream': annotated <object"),
    ],
)
def test_misuse_writes_nothing(options: list[str], words: str, run: Run, service: Path) -> None:
    before = everything(service)
    done = run("new", "echo", *options)
    assert (done.code, done.out) == (2, "")
    assert words in done.err
    assert everything(service) == before


def test_an_interrupt_is_no_failure_of_the_module(run: Run, service: Path) -> None:
    (service / "weather" / "broken.py").write_text("raise KeyboardInterrupt\n")
    done = run("new", "echo", "--from", "weather.broken:f")
    assert (done.code, done.err.strip()) == (1, "Aborted!")


def test_a_tool_that_is_there_is_left_alone_unless_it_is_forced(run: Run, write: Write) -> None:
    place = write("echo", helpers="x = 1\n")
    before = (place / "echo.json").read_text()
    done = run("new", "echo")
    assert (done.code, done.out) == (2, "")
    assert "'tools/echo' already exists; --force replaces its files" in done.err
    assert (place / "echo.json").read_text() == before
    assert run("new", "echo", "--force").code == 0
    assert json.loads((place / "echo.json").read_text())["parameters"]["properties"] == {}
    assert (place / "helpers.py").exists()
    assert run("validate", "--ignore", "ST221").out.endswith("; no problems\n")


def test_a_place_that_can_not_be_written_is_misuse(run: Run, write: Write, tmp_path: Path) -> None:
    write("echo")
    (tmp_path / "file").write_text("")
    done = run("new", "echo", "--tools", "file")
    assert (done.code, "'file/echo' can't be written: " in done.err) == (2, True)
    done = run("new", "other", "--tools", "tools/echo")
    assert (done.code, "'tools/echo' is a tool" in done.err) == (2, True)
    (tmp_path / "tools" / "flat").write_text("")
    assert run("new", "flat", "--force").code == 2


def test_a_function_becomes_a_tool(run: Run, service: Path) -> None:
    # unless the user says another, the tool has the function's name
    for name, options in (("get_forecast", ["get_forecast"]), ("forecast", [])):
        done = run("new", *options, "--from", "weather.service:forecast")
        call = f'sovl-tools call {name} \'place={{"city": "text"}}\''
        assert (done.code, done.err) == (0, f"next: PYTHONPATH=. {call}\n")
    path = {"PYTHONPATH": f"{Path(__file__).parents[2]}:."}
    # both are made of one function
    assert run("validate", "--ignore", "ST804", **path).out.endswith("2 loaded; no problems\n")
    called = run("call", "get_forecast", 'place={"city": "Oslo"}', **path)
    assert called.out == '{"city": "Oslo", "days": 3}\n'
    document = json.loads((service / "tools/forecast/forecast.json").read_text())
    assert document["description"] == "Tell the weather."
    assert document["parameters"]["properties"]["days"] == {
        "type": "integer", "default": 3, "description": "How many days.",
    }  # fmt: skip
    assert run("sync", "--check", **path).code == 0


def test_a_function_of_an_installed_package_needs_no_path(run: Run) -> None:
    done = run("new", "nearest", "--from", "sovl_tools.model.suggestion:did_you_mean")
    assert done.code == 0
    assert "next: sovl-tools call nearest word=text " in done.err
    assert run("validate", "--ignore", "ST221").out.endswith("; no problems\n")


TYPES = """
from enum import Enum
from typing import Annotated, Literal

from annotated_types import Ge

from sovl_tools import tool


class Unit(Enum):
    METRE = "m"


def measure(
    unit: Unit,
    count: Annotated[int, Ge(3)],
    digits: Literal[4, 2],
    exact: bool,
    names: list[str],
    more: dict,
) -> dict:
    return {"unit": unit.value, "count": count}


@tool(description="By @tool.", params={"a": {"minimum": 3}}, tags=["t"])
def marked(a: int) -> int:
    return a


@tool(params={"a": {"enum": lambda: ["x"]}})
def dynamic(a: str): ...


@tool(preprocess=lambda arguments: arguments)
def prepared(a: str): ...


def odd(a: str = "\\ud800", b: int = 10**400):
    return len(a)
"""


@pytest.fixture
def types(tmp_path: Path) -> Path:
    """A module with functions, in the current directory."""
    (tmp_path / "types_of.py").write_text(TYPES)
    return tmp_path


@pytest.mark.usefixtures("types")
def test_the_call_that_is_advised_succeeds(run: Run) -> None:
    done = run("new", "measure", "--from", "types_of:measure")
    _, _, command = done.err.strip().partition("sovl-tools ")
    path = {"PYTHONPATH": f"{Path(__file__).parents[2]}:."}
    called = run(*shlex.split(command), **path)
    assert (called.code, called.out) == (0, '{"unit": "m", "count": 3}\n')


def test_what_the_decorator_says_becomes_the_manifest(run: Run, types: Path) -> None:
    assert run("new", "made", "--from", "types_of:marked").code == 0
    document = json.loads((types / "tools/made/made.json").read_text())
    assert (document["name"], document["description"]) == ("made", "By @tool.")
    assert document["parameters"]["properties"]["a"]["minimum"] == 3
    assert document["tags"] == ["t"]
    path = {"PYTHONPATH": f"{Path(__file__).parents[2]}:."}
    assert run("validate", "--ignore", "ST221", **path).out.endswith("; no problems\n")
    assert run("sync", "--check", **path).code == 0


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("dynamic", "dynamic: 'a': there is a function in its schema, and a manifest holds values"),
        ("prepared", "prepared: its preprocess is not called"),
    ],
)
def test_what_only_code_can_do_is_refused(name: str, words: str, run: Run, types: Path) -> None:
    done = run("new", "made", "--from", f"types_of:{name}")
    assert (done.code, words in done.err) == (2, True)
    assert not (types / "tools").exists()


def test_a_default_that_no_manifest_can_hold_is_left_out_and_told(run: Run, types: Path) -> None:
    done = run("new", "made", "--from", "types_of:odd")
    assert done.code == 0
    assert done.err.splitlines()[:2] == [
        "the default of 'a' is omitted: it contains half of a surrogate pair",
        "the default of 'b' is omitted: it is not a JSON number",
    ]
    document = json.loads((types / "tools/made/made.json").read_text())
    assert all("default" not in each for each in document["parameters"]["properties"].values())
    path = {"PYTHONPATH": f"{Path(__file__).parents[2]}:."}
    assert run("validate", "--ignore", "ST221", **path).out.endswith("; no problems\n")
    assert run("-q", "new", "made", "--from", "types_of:odd", "--force").err == ""


def test_a_directory_without_a_name_is_refused(run: Run) -> None:
    done = run("new", "sovl_of_nowhere", "--tools", "")
    assert (done.code, done.out) == (2, "")
    assert done.err == "Error: there's no directory ''\n"
