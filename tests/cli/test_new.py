from __future__ import annotations

import json
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


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (
            "my-tool",
            "'my-tool' can't name a tool: it is not an ASCII identifier; call it 'my_tool'",
        ),
        ("_own", "folders whose name begins with '_' are not tools; call it 'own'"),
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
        (["--param", "a:string", "--from", "json:dumps"], "leave --param and --async out"),
        (["--from", "json"], "'json' is not MODULE:FUNCTION"),
        (["--from", "weather.broken:f"], "weather.broken can't be imported: SystemExit: 7"),
        (["--from", "weather.service:nothing"], "weather.service has no function 'nothing'\n"),
        (["--from", "weather.service:odd"], "odd: 'stream': annotated <object"),
    ],
)
def test_misuse_writes_nothing(options: list[str], words: str, run: Run, service: Path) -> None:
    before = everything(service)
    done = run("new", "echo", *options)
    assert (done.code, done.out) == (2, "")
    assert words in done.err
    assert everything(service) == before


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
