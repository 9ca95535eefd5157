from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import Run, Write, code_of, manifest_of
from tests.tables import check_each

FAULTY = manifest_of("odd", timout=3)


def test_errors_end_with_one_and_show_the_line(run: Run, write: Write) -> None:
    write("odd", manifest_of("other"))
    done = run("validate")
    assert done.code == 1
    assert "tools/odd/odd.json:2:11: ST211 the name is 'other', the folder's is 'odd'" in done.out
    assert '2 |   "name": "other",\n  |           ^^^^^^^\nhelp: make them equal\n' in done.out
    assert done.out.endswith(": 1 rejected; 1 error; 1 fixable with --fix\n")


def test_json_has_the_form_of_the_contract(run: Run, write: Write) -> None:
    write("echo")
    write("off", manifest_of("off", enabled=False))
    write("later", manifest_of("later", requires={"packages": ["surely_not_installed"]}))
    write("odd", FAULTY, code="def other(): ...\n")
    done = run("validate", "--format", "json")
    assert json.loads(done.out) == {
        "version": 1,
        "summary": {
            "folders": 4, "loaded": 1, "disabled": 1, "unavailable": 1, "rejected": 1,
            "procedures": 0, "errors": 1, "warnings": 1,
        },
        "tools": [
            {"name": "echo", "path": "tools/echo", "status": "loaded"},
            {"name": "later", "path": "tools/later", "status": "unavailable"},
            {"name": "odd", "path": "tools/odd", "status": "rejected"},
            {"name": "off", "path": "tools/off", "status": "disabled"},
        ],
        "diagnostics": [
            {
                "code": "ST202", "severity": "warning",
                "message": "'timout' is not a manifest key",
                "help": "did you mean 'timeout' in 'execution'?",
                "tool": "odd", "path": "tools/odd/odd.json", "line": 16, "column": 3,
                "fix": None,
            },
            {
                "code": "ST401", "severity": "error",
                "message": "the module has no function 'odd'",
                "help": "add: def odd(…): …; the module has 'other'",
                "tool": "odd", "path": "tools/odd/odd.py", "line": 1, "column": 1,
                "fix": None,
            },
        ],
    }  # fmt: skip


@pytest.mark.parametrize("path", ["tools", "tools/odd", "tools/odd/", "tools/odd/odd.py"])
def test_a_path_may_be_a_directory_a_tool_or_a_file_in_one(
    path: str, run: Run, write: Write
) -> None:
    write("odd", FAULTY)
    assert "ST202" in run("validate", path).out


def test_codes_can_be_selected_and_ignored(run: Run, write: Write) -> None:
    write("odd", FAULTY, code="def other(): ...\n")
    assert "ST401" not in run("validate", "--select", "st2").out
    assert run("validate", "--ignore", "ST4,ST202").out.endswith("; the errors are ignored\n")
    unknown = run("validate", "--select", "ST999")
    assert (unknown.code, "there's no code 'ST999'" in unknown.err) == (2, True)


def test_without_imports_no_line_of_a_tool_runs(run: Run, write: Write, tmp_path: Path) -> None:
    note = tmp_path / "ran"
    write("echo", code=f"open({str(note)!r}, 'w')\n\n\n{code_of('echo')}")
    assert run("validate", "--no-import").code == 0
    assert not note.exists()
    assert run("validate").code == 0
    assert note.exists()


def test_a_missing_path_is_misuse(run: Run) -> None:
    for arguments in (["nowhere"], ["--tools", "nowhere"], []):
        done = run("validate", *arguments)
        assert (done.code, done.out) == (2, "")
        assert "there's no " in done.err
    assert "(named by SOVL_TOOLS_PATH)" in run("validate", SOVL_TOOLS_PATH="nowhere").err


def test_what_a_checkout_leaves_behind_is_no_tool(run: Run, write: Write, tmp_path: Path) -> None:
    write("echo")
    (tmp_path / "tools" / "gone" / "__pycache__").mkdir(parents=True)
    (tmp_path / "tools" / "gone" / "__pycache__" / "gone.cpython-311.pyc").touch()
    done = run("validate")
    assert (done.code, done.out.startswith("1 tool checked")) == (0, True)


def test_a_tool_that_never_ends_is_one_diagnostic(run: Run, write: Write, tmp_path: Path) -> None:
    write("echo")
    (tmp_path / "sovl-tools.toml").write_text("import-timeout = 0.3\n")
    write("odd", code="while True:\n    pass\n")
    done = run("validate", "--format", "concise")
    assert done.code == 1
    assert "ST504 importing was not done after 0.3 s" in done.out
    assert "1 loaded, 1 rejected" in done.out


def test_terminals_get_colour_unless_they_refuse(terminal: Run, write: Write) -> None:
    write("odd", FAULTY)
    assert "\x1b[1;33mST202\x1b[0m" in terminal("validate").out
    # quiet: a slow machine would show a bar, which is drawn with escape sequences
    assert "\x1b" not in terminal("-q", "validate", NO_COLOR="1").out


def test_long_work_shows_progress_on_a_terminal(terminal: Run, write: Write) -> None:
    write("a_slow", code="import time\n\ntime.sleep(1.2)\n\n\n" + code_of("a_slow"))
    write("echo")
    shown = terminal("validate", NO_COLOR="1").out
    assert "1/2 a_slow" in shown
    assert "\x1b[2K" in shown
    assert "1/2" not in terminal("-q", "validate").out


@check_each("arguments", [[], ["--no-import"]])
def test_what_serve_leaves_out_is_reported_without_a_target(
    run: Run, write: Write, arguments: list[str]
) -> None:
    manifest = manifest_of("odd")
    manifest["parameters"]["properties"] = {
        "filter[x]": {"type": "string", "description": "Which ones."}
    }
    manifest["parameters"]["required"] = ["filter[x]"]
    code = "def odd(**given: str) -> int:\n    return len(given)\n"
    tools = str(write("odd", manifest, code).parent)
    done = run("validate", tools, *arguments)
    assert "ST906 mcp: 'filter[x]' is rejected as the name of a property" in done.out
    assert done.code == 1
    assert "ST906" not in run("validate", tools, *arguments, "--target", "openai").out
