from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.conftest import Run

WEATHER: dict[str, Any] = {
    "name": "get-weather",
    "description": "Tell the weather of a city.",
    "parameters": {
        "type": "object",
        "properties": {"city": {"type": "string", "description": "Its name."}},
        "required": ["city"],
    },
}
TIME = {"name": "get_time", "description": "Tell the time.", "parameters": {}}


def put(directory: Path, document: Any) -> None:
    (directory / "tools.json").write_text(json.dumps(document))


def content(root: Path) -> dict[str, bytes]:
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in root.rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }


def test_definitions_become_folders_that_validate(run: Run, tmp_path: Path) -> None:
    put(tmp_path, [{"type": "function", "function": WEATHER}, TIME])
    done = run("import", "openai", "tools.json")
    assert done.code == 0
    assert done.out.splitlines() == [
        f"tools/{name}/{name}.{suffix}"
        for name in ("get_weather", "get_time")
        for suffix in ("json", "py")
    ]
    assert done.err.splitlines() == [
        "'get-weather' is called 'get_weather' here",
        "next: write the functions, then: sovl-tools validate",
    ]
    assert run("validate", "--warnings-as-errors").code == 0
    called = run("call", "get_weather", "city=Oslo")
    assert called.code == 1
    assert "get_weather is imported, but not written yet" in called.err


def test_what_is_there_stays_unless_forced(run: Run, tmp_path: Path) -> None:
    put(tmp_path, [TIME])
    run("import", "openai", "tools.json")
    (tmp_path / "tools" / "get_time" / "notes.txt").write_text("mine")
    (tmp_path / "tools" / "get_time" / "get_time.py").write_text("# mine\n")
    put(tmp_path, [WEATHER, TIME])
    before = content(tmp_path)
    done = run("import", "openai", "tools.json")
    assert done.code == 2
    words = "there's already get_time in 'tools'; --force replaces their files\n"
    assert done.err.endswith(words)
    assert content(tmp_path) == before
    assert run("import", "openai", "tools.json", "--force").code == 0
    after = content(tmp_path)
    assert after["tools/get_time/notes.txt"] == b"mine"
    assert after["tools/get_time/get_time.py"] != b"# mine\n"
    assert "tools/get_weather/get_weather.py" in after


def test_one_bad_definition_does_not_stop_the_others(run: Run, tmp_path: Path) -> None:
    put(tmp_path, [WEATHER, {**TIME, "parameters": {"type": "array"}}, 3])
    done = run("import", "openai", "tools.json")
    assert done.code == 1
    assert done.out.splitlines() == [
        f"tools/get_weather/get_weather.{suffix}" for suffix in ("json", "py")
    ]
    assert sorted(path.name for path in (tmp_path / "tools").iterdir()) == ["get_weather"]
    _, first, second, last = done.err.splitlines()
    assert first.startswith("tools.json: $[1]: 'get_time': 'parameters.type'")
    assert second == "tools.json: $[2]: a definition must be an object, not 'integer'"
    assert run("import", "openai", "tools.json", "--exclude", "*").code == 1
    assert (
        run("import", "openai", "tools.json", "--include", "*-*", "--dry-run", "--force").code == 0
    )
    assert last == "2 definitions can't become a tool; see above"


def test_json_lines_and_unknown_keys(run: Run, tmp_path: Path) -> None:
    lines = [{**TIME, "color": "red"}, {"name": "echo", "args": {"text": "str"}}]
    (tmp_path / "tools.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in lines))
    done = run("import", "openai", "tools.jsonl")
    assert done.code == 0
    assert "'get_time': 'color' is not supported, and omitted" in done.err
    manifest = json.loads((tmp_path / "tools/echo/echo.json").read_text())
    assert manifest["parameters"]["properties"]["text"]["type"] == "string"
    assert run("validate").code == 0


def test_misuse_is_one_line(run: Run, tmp_path: Path) -> None:
    (tmp_path / "broken.json").write_text("[{")
    (tmp_path / "empty.json").write_text("[]")
    (tmp_path / "deep.json").write_text("[" * 100_000)
    for file, words in {
        "broken.json": "is not JSON",
        "deep.json": "is not JSON: it is nested too deep",
        "absent.json": "absent.json: No such file",
        "empty.json": "defines no tool",
    }.items():
        done = run("import", "openai", file)
        assert (done.code, done.out) == (2, "")
        assert words in done.err
        assert done.err.count("\n") == 1
