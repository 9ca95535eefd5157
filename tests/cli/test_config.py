"""``validate --show-settings``, and what the settings do."""

from __future__ import annotations

import json
from pathlib import Path

from sovl_tools.configuration import KEYS
from tests.conftest import Run, Write, manifest_of
from tests.tables import check_each

UNDESCRIBED = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}


def test_every_setting_is_printed_with_what_named_it(run: Run, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.sovl-tools]\nimport-timeout = 3\n")
    done = run("validate", "--show-settings", SOVL_TOOLS_PLUGINS_DIR="mine")
    lines = dict(line.split(" = ", 1) for line in done.out.splitlines())
    assert tuple(lines) == KEYS
    assert lines["import-timeout"].split() == ["3.0", "#", str(tmp_path / "pyproject.toml")]
    assert lines["plugins"].split() == ['["mine"]', "#", "SOVL_TOOLS_PLUGINS_DIR"]
    assert lines["watch"].split() == ["[]", "#", "the", "default"]
    done = run("validate", "--show-settings", "--tools", "x")
    assert done.out.splitlines()[0].split() == ["paths", "=", '["x"]', "#", "--tools"]


@check_each(
    ("text", "words"),
    [
        ("colour = 1", "'colour' is not a key"),
        ("select = ['ST999']", "select: there's no code 'ST999'"),
        ("target = ['openay']", "target: "),
        (
            "views = {a = {annotations = {readonly = true}}}",
            "views.a.annotations: 'readonly' is not a key; did you mean 'read_only'?",
        ),
        ("[a", "sovl-tools.toml: "),
    ],
)
def test_what_a_setting_can_not_be_is_one_line(
    run: Run, write: Write, tmp_path: Path, text: str, words: str
) -> None:
    write("echo")
    (tmp_path / "sovl-tools.toml").write_text(text)
    for options in (["--show-settings"], []):
        done = run("validate", *options)
        assert done.code == 2, options
        assert words in done.err.splitlines()[-1]


@check_each(
    ("settings", "code"),
    [
        ("", 0),
        ("warnings-as-errors = true", 1),
        ("warnings-as-errors = true\nignore = ['ST306']", 0),
        ("warnings-as-errors = true\nper-tool-ignores = {ec-o = ['ST3'], 'e*' = ['ST306']}", 0),
        ("warnings-as-errors = true\nselect = ['ST4']\nextend-select = ['ST306']", 1),
    ],
)
def test_validate_shows_what_the_settings_select(
    run: Run, write: Write, tmp_path: Path, settings: str, code: int
) -> None:
    write("echo", manifest_of("echo", parameters=UNDESCRIBED))
    (tmp_path / "pyproject.toml").write_text(f"[tool.sovl-tools]\n{settings}\n")
    assert run("validate").code == code


@check_each(
    ("pattern", "names"),
    [
        ("legacy_*", ["echo"]),
        ("tools", []),
        ("other/legacy_*", ["echo", "legacy_a"]),
    ],
)
def test_excluded_folders_are_left_out_by_every_command(
    run: Run, write: Write, tmp_path: Path, pattern: str, names: list[str]
) -> None:
    write("echo")
    write("legacy_a", manifest_of("other"))
    (tmp_path / "sovl-tools.toml").write_text(f"exclude = ['{pattern}']\n")
    below = tmp_path / "deep"
    below.mkdir(exist_ok=True)
    for here, tools in ((tmp_path, "tools"), (below, "../tools")):
        done = run("validate", "--format", "json", "--tools", tools, cwd=here)
        if names:
            assert [each["name"] for each in json.loads(done.out)["tools"]] == names
        else:
            assert (done.code, "nothing is left to check: everything is excluded" in done.err) == (
                2,
                True,
            )
        listed = run("list", "--format", "json", "--tools", tools, cwd=here)
        assert [each["name"] for each in json.loads(listed.out)] == names[:1]
        synced = run("sync", "--check", "--tools", tools, cwd=here)
        assert f"of {len(names)} tool" in synced.out
