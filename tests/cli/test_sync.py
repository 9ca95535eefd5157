from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.conftest import Run, Write, manifest_of
from tests.tables import check_each

CODE = '''def {}(text: str, times: int = 2) -> str:
    """Say it.

    Args:
        times: How often.
    """
    return text * times
'''
MANIFEST = """{
  "name": "echo",
  "description": "Say something.",
  "parameters": {
    "type": "object",
    "properties": {
      "text": {"type": "string", "description": "What to say."}
    },
    "required": ["text"]
  }
}
"""
DIFF = """--- tools/echo/echo.json
+++ tools/echo/echo.json
@@ -4,7 +4,8 @@
   "parameters": {
     "type": "object",
     "properties": {
-      "text": {"type": "string", "description": "What to say."}
+      "text": {"type": "string", "description": "What to say."},
+      "times": {"type": "integer", "description": "How often.", "default": 2}
     },
     "required": ["text"]
   }
"""


def test_a_manifest_is_mended_and_the_change_is_shown(run: Run, write: Write) -> None:
    place = write("echo", MANIFEST, CODE.format("echo"))
    done = run("sync")
    assert (done.code, done.err) == (0, "")
    assert done.out == f"{DIFF}1 manifest changed, of 1 tool\n"
    assert '"times": {"type": "integer", ' in (place / "echo.json").read_text()
    assert run("validate").out.endswith("; no problems\n")
    again = run("sync")
    assert (again.code, again.out) == (0, "0 manifests changed, of 1 tool\n")


def test_check_writes_nothing_and_fails(run: Run, write: Write) -> None:
    place = write("echo", MANIFEST, CODE.format("echo"))
    done = run("sync", "--check")
    assert (done.code, "the tool in other words" in done.err) == (1, True)
    assert done.out == f"{DIFF}1 manifest would change, of 1 tool\n"
    assert (place / "echo.json").read_text() == MANIFEST
    run("sync")
    assert run("sync", "--check").code == 0


RETURNING = """from dataclasses import dataclass
from typing import NamedTuple


@dataclass
class Hit:
    title: str
    score: float | None = None


def find(text: str) -> list[Hit]:
    \"\"\"Find things.

    Args:
        text: What to find.

    Returns:
        The best ones first.
    \"\"\"
    return [Hit(text)]
"""


def test_the_schema_of_results_is_offered_and_written(
    run: Run, write: Write, tmp_path: Path
) -> None:
    (write("find", "", RETURNING) / "find.json").unlink()
    write("echo", MANIFEST, CODE.format("echo").replace(", times: int = 2", ""))
    done = run("sync")
    assert done.err == (
        "sovl-tools sync find --output-schema can add the schema of the result to find\n"
    )
    assert "output_schema" not in done.out
    assert run("sync", "find", "--output-schema").code == 0
    written = json.loads((tmp_path / "tools" / "find" / "find.json").read_text())
    assert written["output_schema"]["items"]["required"] == ["title"]
    assert written["output_schema"]["description"] == "The best ones first."
    assert run("sync", "find", "--output-schema", "--check").err == ""


def test_one_tool_can_be_named(run: Run, write: Write) -> None:
    for name in ("echo", "other"):
        write(name, manifest_of(name), CODE.format(name))
    assert run("sync", "other").out.endswith("\n1 manifest changed, of 1 tool\n")
    assert run("sync", "--check").out.endswith("\n1 manifest would change, of 2 tools\n")
    unknown = run("sync", "ecko")
    assert (unknown.code, "did you mean 'echo'?" in unknown.err) == (2, True)
    unknown = run("sync", "zzz")
    assert unknown.code == 2
    assert "there's no tool folder 'zzz'; a tool in code doesn't have one" in unknown.err
    assert run("sync", "--tools", "nowhere").code == 2


def test_a_property_that_is_not_taken_is_told_until_it_is_pruned(run: Run, write: Write) -> None:
    place = write("echo", code="def echo(): ...\n")
    before = (place / "echo.json").read_text()
    done = run("sync")
    assert done.code == 1
    assert "ST402 the function does not take 'text', which the manifest lists" in done.out
    assert "remove the property: sovl-tools sync --prune" in done.out
    assert (place / "echo.json").read_text() == before
    done = run("sync", "--prune")
    assert (done.code, done.out.endswith("1 manifest changed, of 1 tool\n")) == (0, True)
    document = json.loads((place / "echo.json").read_text())
    assert document["parameters"] == {"type": "object", "properties": {}, "required": []}


def test_a_manifest_is_made_where_there_is_none(run: Run, write: Write) -> None:
    place = write("echo", code=CODE.format("echo"))
    (place / "echo.json").unlink()
    done = run("sync")
    assert done.out.startswith("--- /dev/null\n+++ tools/echo/echo.json\n@@ -0,0 +1,")
    assert done.code == 0
    done = run("validate")
    assert "ST221 the description of 'text' is still a placeholder" in done.out
    assert done.out.endswith(": 1 loaded; 1 warning\n")


DOCUMENTED = '''def echo(text: str, times: int = 1):
    """Repeat a string.

    Args:
        text: The text to repeat.
        times: How often.
    """
    return text * times
'''


def described(place: Path) -> tuple[str, ...]:
    document = json.loads((place / "echo.json").read_text())
    properties = document["parameters"]["properties"].values()
    return document["description"], *(each["description"] for each in properties)


def test_placeholders_give_way_to_the_docstring(run: Run, write: Write, tmp_path: Path) -> None:
    assert run("new", "echo", "--param", "text:string", "--param", "times:integer=1").code == 0
    place = tmp_path / "tools" / "echo"
    (place / "echo.py").write_text(DOCUMENTED)
    assert run("sync", "--check").code == 1
    assert run("sync").code == 0
    assert described(place) == ("Repeat a string.", "The text to repeat.", "How often.")
    assert run("sync", "--check").code == 0


def test_other_words_than_the_docstrings_are_noted_and_taken_on_request(
    run: Run, write: Write
) -> None:
    place = write("echo", manifest_of("echo"), DOCUMENTED)
    run("sync")
    before = described(place)
    assert before[:2] != ("Repeat a string.", "The text to repeat.")
    done = run("sync", "--check")
    assert (done.code, "describes the tool, 'text' in other words" in done.err) == (0, True)
    assert described(place) == before
    assert run("sync", "--descriptions").code == 0
    assert described(place) == ("Repeat a string.", "The text to repeat.", "How often.")
    assert "in other words" not in run("sync", "--check").err


EDITS = {
    "in place": "path.write_text(edited)",
    "by deletion": "path.unlink()",
}
EDITING = """
import pathlib
path = pathlib.Path({path!r})
edited = '{{"name": "echo", "description": "Said by the user."}}'
with open({imports!r}, "a+") as file:
    file.write("x")
    file.seek(0)
    number = len(file.read())
if number == {at}:
    {edit}
"""

# validate imports a tool in a child, to check it, and then in the command, to bring it into line
COMMANDS = {"sync": 1, "validate --fix --unsafe-fixes": 2}


def editing(path: Path, edit: str, at: int = 1) -> str:
    """Return code that edits a manifest when it runs for the nth time."""
    imports = path.parent.parent.parent / f"imports-{path.parent.name}"
    imports.unlink(missing_ok=True)
    return EDITING.format(path=str(path), imports=str(imports), edit=EDITS[edit], at=at)


@pytest.mark.parametrize("command", COMMANDS)
@check_each("edit", EDITS)
def test_what_is_saved_while_a_tool_is_imported_stays(
    edit: str, command: str, run: Run, write: Write, tmp_path: Path
) -> None:
    path = tmp_path / "tools" / "echo" / "echo.json"
    other = tmp_path / "tools-2" / "edited" / "echo.json"
    for each in (path, other):
        shutil.rmtree(each.parent, ignore_errors=True)
    write("echo", MANIFEST, editing(path, edit, COMMANDS[command]) + CODE.format("echo"))
    shutil.copytree(path.parent, other.parent)
    exec(editing(other, edit))
    done = run(*command.split())
    assert done.code == 1
    assert (path.exists(), path.is_dir()) == (other.exists(), other.is_dir())
    if other.is_file():
        assert path.read_bytes() == other.read_bytes()
        assert "it has changed meanwhile; run the command again" in done.err
