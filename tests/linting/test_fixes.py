"""What `validate --fix` fixes, and what it leaves."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Run, Write, manifest_of
from tests.tables import check_each

TEXT = {"type": "string", "description": "What to say."}


def parameters(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"text": TEXT, **properties}, "required": ["text"]}


def fix(run: Run, *arguments: str) -> Any:
    return run("validate", "--fix", "--format", "concise", *arguments)


BROKEN = """{
    "$schema": "urn:sovl-tools:schema:tool",
    "descripton": "Say something.",
    "parameters": {
        "properties": {
            "text": {"type": "str", "description": "What.",   "minlength": 0},
            "times": {"type": ["int", "null"], "description": "How often."}
        },
        "requried": ["text",
            "tmies"]
    }
}"""
MENDED = """{
    "$schema": "urn:sovl-tools:schema:tool",
    "name": "echo",
    "description": "Say something.",
    "parameters": {
        "type": "object",
        "properties": {
            "text": {"type": "string", "description": "What.",   "minLength": 0},
            "times": {"type": ["integer", "null"], "description": "How often."}
        },
        "required": ["text",
            "times"]
    }
}"""
TIMES = "def echo(text, times):\n    return text\n"


@check_each("newline", ["\n", "\r\n"])
def test_a_manifest_is_fixed_run_by_run_and_keeps_its_layout(
    run: Run, write: Write, newline: str
) -> None:
    place = write("echo", BROKEN.replace("\n", newline), TIMES) / "echo.json"
    done = [fix(run) for _ in range(3)]
    assert place.read_bytes().decode() == MENDED.replace("\n", newline)
    # what is wrong in a schema shows when the meta-schema accepts it
    assert [each.out.rpartition("; ")[0].rpartition(": ")[2] for each in done] == [
        "1 rejected; 2 errors, 2 warnings; fixed 6 findings; 4 left",
        "1 rejected; 2 errors; fixed 3 findings; 2 left",
        "1 loaded; no problems; fixed 2 findings",
    ]
    assert done[0].out.endswith("; 2 fixable with --fix\n")


@check_each(
    ("old", "new"),
    [
        ({"taggs": ["a"]}, {"tags": ["a"]}),
        ({"annotations": {"readonly": True}}, {"annotations": {"read_only": True}}),
        (
            {"examples": [{"input": {"text": "a"}, "ouput": 1}]},
            {"examples": [{"input": {"text": "a"}, "output": 1}]},
        ),
        ({"parameters": {**parameters(), "type": "dict"}}, {"parameters": parameters()}),
        ({"parameters": {**parameters(), "required": ["text", "x"]}}, {"parameters": parameters()}),
        ({"name": "ehco"}, {"name": "echo"}),
        (
            {"parameters": {"text": TEXT, "required": ["text"]}},
            {"parameters": parameters()},
        ),
        (
            {
                "parameters": {
                    "type": "object",
                    "properties": {
                        "text": {**TEXT, "required": True},
                        "kind": {**TEXT, "required": True},
                        "more": {**TEXT, "required": False},
                    },
                }
            },
            {"parameters": {**parameters(kind=TEXT, more=TEXT), "required": ["text", "kind"]}},
        ),
        (
            {"parameters": parameters(kind={**TEXT, "choices": ["a"], "regex": "^a", "min": 1})},
            {
                "parameters": parameters(
                    kind={**TEXT, "enum": ["a"], "pattern": "^a", "minLength": 1}
                )
            },
        ),
        (
            {"output_schema": {"type": "array", "items": [{"type": "number"}]}},
            {"output_schema": {"type": "array", "prefixItems": [{"type": "number"}]}},
        ),
        ({"x-ignore": ["ST404", "ST2"]}, {}),
    ],
)
def test_what_can_only_be_one_thing_is_fixed(
    run: Run, write: Write, old: dict[str, Any], new: dict[str, Any]
) -> None:
    place = write("echo", {**manifest_of("echo", parameters=parameters()), **old})
    (place / "echo.py").write_text("def echo(text, kind='', more=''):\n    return text\n")
    done = fix(run)
    expected = {**manifest_of("echo", parameters=parameters()), **new}
    assert json.loads((place / "echo.json").read_text()) == expected, done.out
    assert done.code == 0


@pytest.mark.unmeasured
@check_each(
    "old",
    [
        {"colour": "red"},
        {"titel": "A", "title": "B"},
        {"taggs": ["a"], "tagss": ["b"]},
        {"parameters": {**parameters(), "note": "no schema"}},
        {"parameters": {**parameters(), "required": "text"}},
        {"parameters": {**parameters(text={**TEXT, "required": True}), "required": "text"}},
        {"x-ignore": "ST306"},
    ],
)
def test_what_is_in_doubt_or_would_take_the_tool_away_is_left(
    run: Run, write: Write, old: dict[str, Any]
) -> None:
    file = write("echo", manifest_of("echo", **{"parameters": parameters(), **old})) / "echo.json"
    before, was = file.read_bytes(), run("validate", "--format", "concise").out
    assert file.read_bytes() == before
    done = fix(run)
    assert file.read_bytes() == before, file.read_text()
    assert done.out.splitlines()[:-1] == was.splitlines()[:-1]


@check_each(
    ("old", "new"),
    [
        ({"enabld": False}, {"enabled": False}),
        (
            {"parameters": parameters(many={"type": "array", "description": "All."})},
            {"parameters": parameters(many={"type": "array", "description": "All.", "items": {}})},
        ),
    ],
)
def test_what_may_be_meant_otherwise_is_fixed_when_asked_for(
    run: Run, write: Write, old: dict[str, Any], new: dict[str, Any]
) -> None:
    code = f"def echo(text{', many=()' if 'parameters' in old else ''}):\n    return text\n"
    before = manifest_of("echo", **{"parameters": parameters(), **old})
    place = write("echo", before, code) / "echo.json"
    assert fix(run).out.endswith("; 1 fixable with --fix --unsafe-fixes\n")
    assert json.loads(place.read_text()) == before
    done = fix(run, "--unsafe-fixes")
    expected = manifest_of("echo", **{"parameters": parameters(), **new})
    assert json.loads(place.read_text()) == expected
    assert done.out.endswith("; no problems; fixed 1 finding; 0 left\n")


@check_each(
    ("text", "expected"),
    [
        ('{"a": [1, 2,\n ], }', '{"a": [1, 2\n ] }'),
        ("{'a': 'it\\'s \"one\"'}", '{"a": "it\'s \\"one\\""}'),
        ('{"a": True, "b": [None, False], "True": ", }"}',
         '{"a": true, "b": [null, false], "True": ", }"}'),
        ('\ufeff{"a": 1,}', '{"a": 1}'),
        ('{"a": 1 // one\n,}', None),
        ("{'a': 'it's'}", None),
    ],
)  # fmt: skip
def test_text_that_is_json_but_for_a_few_liberties_is_made_json(
    run: Run, write: Write, text: str, expected: str | None
) -> None:
    file = write("echo", text.encode()) / "echo.json"
    fix(run, "--select", "ST201,ST204")
    assert file.read_bytes().decode() == (text if expected is None else expected)


@check_each(
    ("code", "expected"),
    [
        ("# sovl: ignore[ST408]\ndef echo(text):\n", "def echo(text):\n"),
        ("def echo(text):  # sovl: ignore[ST408]\r\n", "def echo(text):\r\n"),
        (
            "def echo(text):  # sovl: ignore[ST408, ST407]  # noqa: X\n",
            "def echo(text):  # noqa: X\n",
        ),
        (
            "def echo(text, *a):  # sovl: ignore[ST406, ST408]\n",
            "def echo(text, *a):  # sovl: ignore[ST406]\n",
        ),
    ],
)
def test_a_comment_that_leaves_nothing_out_goes(
    run: Run, write: Write, code: str, expected: str
) -> None:
    body = '    return "# sovl: ignore[ST408]"\n'
    file = write("echo", code=f"{code}{body}".encode()) / "echo.py"
    fix(run, "--no-import")
    assert file.read_bytes().decode() == f"{code}{body}", "only an import tells what is omitted"
    fix(run)
    assert file.read_bytes().decode() == f"{expected}{body}"


DRIFTED = '''def echo(text: str, times: int) -> str:
    """Say it.

    Args:
        times: How often.
    """
    return text * times
'''


def test_drift_is_fixed_as_sync_does_it(run: Run, write: Write) -> None:
    file = write("echo", manifest_of("echo", parameters=parameters()), DRIFTED) / "echo.json"
    before = file.read_bytes()
    assert fix(run, "--no-import").code == 1
    assert fix(run, "--ignore", "ST403", "--no-import").code == 0
    assert fix(run, "--ignore", "ST403").out.endswith("1 rejected; the errors are ignored\n")
    assert file.read_bytes() == before, "nothing was shown that could be mended"
    assert fix(run).out.endswith(": 1 loaded; no problems; fixed 1 finding; 0 left\n")
    assert '"How often."' in file.read_text()
    assert run("sync", "--check").code == 0


def test_what_the_function_takes_besides_is_added_only_when_asked_for(
    run: Run, write: Write
) -> None:
    code = DRIFTED.replace("times: int)", "times: int, secret: str = '')")
    file = write("echo", manifest_of("echo", parameters=parameters()), code) / "echo.json"
    assert fix(run).code == 1
    assert "secret" not in file.read_text()
    assert fix(run, "--unsafe-fixes").code == 0
    assert "secret" in file.read_text()


def test_a_difference_is_shown_and_nothing_is_written(run: Run, write: Write) -> None:
    place = write("echo", manifest_of("echo", parameters=parameters(), taggs=["a"])) / "echo.json"
    before = place.read_bytes()
    done = run("validate", "--diff")
    assert (done.code, done.err) == (1, "would fix 1 finding\n")
    lines = done.out.splitlines()
    assert lines[:2] == ["--- tools/echo/echo.json", "+++ tools/echo/echo.json"]
    assert [each for each in lines[2:] if each[0] in "+-"] == ['-  "taggs": [', '+  "tags": [']
    assert run("validate", "--diff", "--fix").out == done.out
    assert place.read_bytes() == before
    fix(run)
    again = run("validate", "--diff")
    assert (again.code, again.out, again.err) == (0, "", "no fixes\n")


@check_each(
    ("manifest", "fixes"),
    [
        (
            manifest_of("echo", parameters=parameters(), taggs=["a"], colour="red"),
            ["rename it to 'tags'", None],
        ),
    ],
)
def test_json_says_what_would_fix_each_finding(
    run: Run, write: Write, manifest: dict[str, Any], fixes: list[str | None]
) -> None:
    write("echo", manifest)
    found = json.loads(run("validate", "--format", "json").out)["diagnostics"]
    assert [each["fix"] for each in found] == [
        each and {"applicability": "safe", "message": each} for each in fixes
    ]


def test_a_file_that_cannot_be_written_is_left_and_the_others_are_fixed(
    run: Run, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = [
        write(name, manifest_of(name, taggs=["a"])) / f"{name}.json" for name in ("echo", "other")
    ]
    before = files[0].read_bytes()
    # root may write whatever it likes
    can = os.access
    monkeypatch.setattr(
        os, "access", lambda path, mode: "echo" not in str(path) and can(path, mode)
    )
    done = fix(run)
    assert done.code == 1
    assert done.err == "tools/echo/echo.json is left unchanged: it can't be written\n"
    assert done.out.splitlines()[0].startswith("tools/echo/echo.json:")
    assert done.out.endswith("; fixed 1 finding; 1 left; 1 fixable with --fix\n")
    assert files[0].read_bytes() == before
    assert '"tags"' in files[1].read_text()


def test_files_are_put_back_where_a_tool_no_longer_loads(run: Run, write: Write) -> None:
    code = """
from pathlib import Path

if "taggs" not in Path(__file__).with_suffix(".json").read_text():
    raise ValueError("no taggs")  # sovl: ignore[ST408]


def echo(text):
    return text
"""
    places = [write("echo", manifest_of("echo", taggs=["a"]), code)]
    places.append(write("other", manifest_of("other", taggs=["a"])))
    before = [(places[0] / each).read_bytes() for each in ("echo.json", "echo.py")]
    done = fix(run)
    assert done.code == 1
    words = "is left unchanged: with the fixes it is rejected: ST501 ValueError while importing"
    assert done.err.startswith(f"tools/echo {words}")
    assert [(places[0] / each).read_bytes() for each in ("echo.json", "echo.py")] == before
    assert done.out.endswith(
        ": 2 loaded; 2 warnings; fixed 1 finding; 2 left; 2 fixable with --fix\n"
    )
    assert '"tags"' in (places[1] / "other.json").read_text()


IDLE = """\
# sovl: ignore[ST408]
name: go   # sovl: ignore[ST758, ST760] and why
description: Say.
steps:
  - {action: return, value: 1}   # sovl: ignore[ST760]   # the end
  - {action: set, values: {a: 1}}  # sovl: ignore[ST758, ST760]
"""
USED = """\
name: go   # and why
description: Say.
steps:
  - {action: return, value: 1}   # the end
  - {action: set, values: {a: 1}}  # sovl: ignore[ST758]
"""


@check_each("end", ["\n", "\r\n"])
def test_what_leaves_nothing_out_goes_from_procedures(
    run: Run, write: Write, tmp_path: Path, end: str
) -> None:
    write("echo")
    file = tmp_path / "procedures" / "go.yaml"
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(IDLE.replace("\n", end).encode())
    shown = run("validate", "--diff")
    assert (shown.code, "would fix 5 findings" in shown.err) == (1, True), shown.err
    assert "-# sovl: ignore[ST408]" in shown.out
    assert file.read_bytes() == IDLE.replace("\n", end).encode()
    done = fix(run)
    assert "fixed 5 findings" in done.out
    assert file.read_bytes() == USED.replace("\n", end).encode()
    assert "no problems" in fix(run).out
    assert file.read_bytes() == USED.replace("\n", end).encode()


def test_a_locked_tool_is_left_as_it_was_locked(run: Run, write: Write) -> None:
    file = write("echo", manifest_of("echo", taggs=["a"])) / "echo.json"
    assert run("lock").code == 0
    before = file.read_bytes()
    done = fix(run, "--locked")
    assert (done.code, "ST107 the manifest changed since the tool was locked" in done.err) == (
        1,
        True,
    )
    assert file.read_bytes() == before


def test_a_link_stays_one(run: Run, write: Write, tmp_path: Path) -> None:
    file = write("echo", manifest_of("echo", taggs=["a"])) / "echo.json"
    real = tmp_path / "elsewhere.json"
    file.rename(real)
    file.symlink_to(real)
    fix(run)
    assert file.is_symlink()
    assert '"tags"' in real.read_text()


def test_explain_says_what_is_fixed(run: Run) -> None:
    assert "`validate --fix`: Renames the keyword" in run("explain", "ST308").out
    assert "as `sovl-tools sync` does" in run("explain", "ST403").out
    assert "--fix" not in run("explain", "ST401").out


INNER = manifest_of("echo", parameters=parameters())
NAMED = {"inputSchema" if key == "parameters" else key: each for key, each in INNER.items()}


@check_each("wrapped", [{"type": "function", "function": INNER}, {"tools": [NAMED]}])
def test_a_definition_in_another_form_is_lifted(run: Run, write: Write, wrapped: Any) -> None:
    place = write("echo", wrapped) / "echo.json"
    done = fix(run)
    assert (done.code, "fixed 1 finding; 0 left" in done.out) == (0, True)
    assert list(json.loads(place.read_text()).items()) == list(INNER.items())
