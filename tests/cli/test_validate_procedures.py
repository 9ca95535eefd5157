from __future__ import annotations

import json

from tests.cli.procedures import GREETINGS, Put
from tests.cli.procedures import put as put  # noqa: PLC0414 - a fixture
from tests.conftest import Run, Write

WRONG = GREETINGS.replace("tool: echo", "tool: ehco").replace("name }}", "nam }}")


def test_a_procedure_is_checked_with_the_configured_tools(run: Run, put: Put) -> None:
    put("greetings.yaml", WRONG)
    done = run("validate", "greetings.yaml")
    assert done.code == 1
    assert "greetings.yaml:14:30: ST754 there's no tool 'ehco'" in done.out
    assert "help: did you mean 'echo'?" in done.out
    assert "ST760 there's no variable 'nam'" in done.out
    summary = done.out.splitlines()[-1]
    assert summary.startswith("1 procedure and 2 tools checked in ")
    assert summary.endswith(" s: 2 loaded; 2 errors")


def test_a_directory_called_procedures_stands_for_its_files(run: Run, put: Put) -> None:
    put("procedures/greetings.yaml", GREETINGS)
    put("procedures/odd.json", "{")
    put("procedures/_draft.yaml", WRONG)
    put("procedures/notes.txt", "nothing")
    done = run("validate", "tools", "procedures", "--format", "json")
    document = json.loads(done.out)
    assert document["summary"]["procedures"] == 2
    assert document["summary"]["folders"] == 2
    (found,) = document["diagnostics"]
    assert (found["code"], found["path"]) == ("ST750", "procedures/odd.json")
    assert found["tool"] == "odd"
    assert run("validate", "procedures/odd.json").code == 1


def test_without_imports_only_what_needs_no_tool_is_checked(run: Run, put: Put) -> None:
    put("greetings.yaml", WRONG)
    done = run("validate", "--no-import", "greetings.yaml", "--format", "concise")
    assert "ST760" in done.out
    assert "ST754" not in done.out


OTHERS = {
    ".github/workflows/ci.yml": "on: push\njobs: {a: {steps: [{uses: x, action: y}]}}",
    "compose.yaml": "services: {web: {image: !x y}}",
    "chart.yaml": "{{ if .Values.steps }}\nsteps:\n{{ end }}",
    "data.json": '{"steps": [{"count": 1}]}',
    "broken.json": '{"steps": [{"action": ',
    "notes.yml": "steps: [a, b]\naction: none",
    "big.yaml": "a: " + "x" * (1 << 21),
    "_drafts/draft.yaml": WRONG,
    "_draft.yaml": WRONG,
    ".hidden/hidden.yaml": WRONG,
    "node_modules/left/pad.yaml": WRONG,
    "env/pyvenv.cfg": "",
    "env/lib/in_env.yaml": WRONG,
}


def test_a_directory_is_searched_and_what_is_not_ours_is_left_alone(run: Run, put: Put) -> None:
    for name, content in OTHERS.items():
        put(f"work/{name}", content)
    put("work/flows/greetings.yaml", WRONG)
    put("work/flows/deep/sound.json", json.dumps({"name": "sound", **SOUND}))
    put("work/flows/procedures/odd.yaml", "what: ever")
    put("work/kept.bak.yaml", GREETINGS.replace("greetings", "kept.bak"))
    put("work/torn.yaml", 'name: torn\nsteps:\n  - action: "wait\n')
    done = run("validate", "work", "--format", "json")
    document = json.loads(done.out)
    assert (done.code, document["summary"]["procedures"]) == (1, 5)
    assert document["summary"]["loaded"] == 2  # the configured tools, which procedures need
    assert {each["path"]: each["code"] for each in document["diagnostics"]} == {
        "work/flows/greetings.yaml": "ST760",
        "work/flows/procedures/odd.yaml": "ST752",
        "work/kept.bak.yaml": "ST751",
        "work/torn.yaml": "ST750",
    }


SOUND = {"description": "d", "steps": [{"action": "wait", "seconds": 1}]}


def test_procedures_are_looked_for_where_they_are_configured(run: Run, put: Put) -> None:
    put("procedures/greetings.yaml", WRONG)
    assert run("validate").out.splitlines()[-1].startswith("1 procedure and 2 tools checked")
    put("pyproject.toml", '[tool.sovl-tools]\nprocedures = ["flows"]\n')
    done = run("validate")
    assert (done.code, done.out) == (2, "")
    assert "there's no directory of procedures 'flows'" in done.err
    put("flows/odd.yaml", "what: ever")
    done = run("validate", "--format", "concise")
    assert done.out.startswith("flows/odd.yaml:1:1: ST751 'name' is missing")
    assert done.out.splitlines()[-1].startswith("1 procedure and 2 tools checked")


def test_a_tool_that_ends_the_second_process_ends_no_other(
    run: Run, put: Put, write: Write
) -> None:
    put("greetings.yaml", GREETINGS)
    code = "import os\nif os.path.exists('seen'):\n    os._exit(7)\nopen('seen', 'w').close()\n"
    write("echo", code=f"{code}def echo(text):\n    return text\n")
    done = run("validate", "greetings.yaml")
    assert done.code == 1
    words = "ST701 importing the tools for it ended the process: exit code 7"
    assert f"greetings.yaml:1:1: {words}" in done.out
