"""What is shipped for CI, and the page about it, as others use them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from tests.conftest import REPOSITORY, Run, Write, clean_environment
from tests.docs.blocks import Block, Document

PAGE = REPOSITORY / "docs" / "how-to" / "ci.md"
HOOKS = REPOSITORY / ".pre-commit-hooks.yaml"
ACTION = REPOSITORY / "action.yml"
TEMPLATE = REPOSITORY / "docs" / "gitlab-ci.yml"
SCHEMAS = {
    "github-actions": (),
    "github-workflows": (".github/workflows/tools.yml", ".github/workflows/branch.yml"),
    "gitlab-ci": (".gitlab-ci.yml",),
}
"""The files on the page that a schema is for."""


def environment(**more: str) -> dict[str, str]:
    """Return an environment in which ``sovl-tools`` is this one."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    # a hook of git's own would tell of the repository that these tests are run for
    kept = {key: value for key, value in clean_environment().items() if key[:4] != "GIT_"}
    return {**kept, "PATH": path, **more}


def start(
    *command: str | Path, cwd: Path, code: int = 0, env: Mapping[str, str] | None = None
) -> str:
    """Run a command and return what it prints, on both outputs."""
    done = subprocess.run(
        [*map(str, command)],
        cwd=cwd,
        env=environment() if env is None else dict(env),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == code, done.stdout
    return done.stdout


def repository(place: Path) -> Path:
    place.mkdir(exist_ok=True)
    start("git", "init", "-q", "-b", "main", cwd=place)
    start("git", "config", "user.email", "somebody@example.org", cwd=place)
    start("git", "config", "user.name", "Somebody", cwd=place)
    return place


def titled() -> dict[str, Block]:
    return {each.title: each for each in Document.read(PAGE).blocks if each.title is not None}


def loaded(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def test_action_template_and_page_are_what_services_accept(tmp_path: Path) -> None:
    main = pytest.importorskip("check_jsonschema").main
    shipped = {"github-actions": [ACTION], "gitlab-ci": [TEMPLATE]}
    for schema, titles in SCHEMAS.items():
        files = shipped.get(schema, [])
        for title in titles:
            files.append(tmp_path / Path(title).name)
            files[-1].write_text(titled()[title].body)
        arguments = ["--builtin-schema", f"vendor.{schema}", *map(str, files)]
        done = CliRunner().invoke(main, arguments)
        assert done.exit_code == 0, done.output


def test_hooks_run_on_a_commit(tmp_path: Path, write: Write) -> None:
    pytest.importorskip("pre_commit")
    pre_commit = (sys.executable, "-m", "pre_commit")
    hooks = repository(tmp_path / "hooks")
    (hooks / HOOKS.name).write_bytes(HOOKS.read_bytes())
    start("git", "add", ".", cwd=hooks)
    start("git", "commit", "-qm", "Hooks", cwd=hooks)
    revision = start("git", "rev-parse", "HEAD", cwd=hooks).strip()
    # an environment of pre-commit's own would be fetched from the network
    used = [{"id": each["id"], "language": "system"} for each in loaded(HOOKS)]
    config = {"repos": [{"repo": str(hooks), "rev": revision, "hooks": used}]}
    mine = repository(tmp_path)
    (mine / ".pre-commit-config.yaml").write_text(yaml.safe_dump(config))
    (mine / ".gitignore").write_text("hooks\nhome\n__pycache__\n")
    note = mine / "ran"
    write(
        "echo", code=f"open({str(note)!r}, 'a')\n\n\ndef echo(text: str) -> str:\n    return text\n"
    )
    env = environment(PRE_COMMIT_HOME=str(tmp_path / "home"))
    start(*pre_commit, "install", cwd=mine, env=env)
    start("git", "add", ".", cwd=mine)
    said = start("git", "commit", "-m", "Sound", cwd=mine, env=env)
    assert said.count("Passed") == 2
    assert note.exists()
    note.unlink()
    start(*pre_commit, "run", "sovl-tools-validate", "--all-files", cwd=mine, env=env)
    assert not note.exists()  # no line of a tool has run
    # nothing is left of the file that could be handed over
    start("git", "rm", "-q", "tools/echo/echo.py", cwd=mine)
    said = start("git", "commit", "-m", "Broken", cwd=mine, env=env, code=1)
    assert said.count("Failed") == 2
    assert "ST104" in said or "there's no 'echo.py'" in said


def test_the_page_configures_a_hook_that_there_is(tmp_path: Path) -> None:
    block = titled()[".pre-commit-config.yaml"]
    used = yaml.safe_load(block.body)["repos"][0]["hooks"]
    assert {each["id"] for each in used} <= {each["id"] for each in loaded(HOOKS)}
    pytest.importorskip("pre_commit")
    config = tmp_path / ".pre-commit-config.yaml"
    config.write_text(block.body)
    start(sys.executable, "-m", "pre_commit", "validate-config", config, cwd=tmp_path)
    start(sys.executable, "-m", "pre_commit", "validate-manifest", HOOKS, cwd=tmp_path)


# no shell expands the patterns
@pytest.mark.parametrize(("arguments", "code"), [("", 1), ("--ignore ST2", 0), ("tools/e*", 2)])
def test_the_action_s_commands_run(tmp_path: Path, write: Write, arguments: str, code: int) -> None:
    write("echo")
    write("odd", "{")
    steps = loaded(ACTION)["runs"]["steps"]
    env = environment(GITHUB_ACTION_PATH=str(REPOSITORY), ARGUMENTS=arguments)
    assert steps[1]["env"] == {"ARGUMENTS": "${{ inputs.arguments }}"}
    # what services run: with -e, so that a step ends with the first command that fails
    start("bash", "-eo", "pipefail", "-c", steps[0]["run"], cwd=tmp_path, env=env)
    start("bash", "-eo", "pipefail", "-c", steps[1]["run"], cwd=tmp_path, env=env, code=code)


def test_the_template_s_commands_run(tmp_path: Path, write: Write) -> None:
    write("odd", "{")
    job = loaded(TEMPLATE)["sovl-tools"]
    env = environment(CI_PROJECT_DIR=str(tmp_path), SOVL_TOOLS_ARGUMENTS="--no-import tools")
    script = "\n".join((*job["before_script"], *job["script"]))
    start("bash", "-eo", "pipefail", "-c", script, cwd=tmp_path, env=env, code=1)
    report = json.loads((tmp_path / job["artifacts"]["reports"]["codequality"]).read_text())
    assert [each["location"]["path"] for each in report] == ["tools/odd/odd.json"]


def test_the_page_s_commands_run(run: Run, write: Write, tmp_path: Path) -> None:
    write("echo")
    (tmp_path / "README.md").touch()
    (block,) = (each for each in Document.read(PAGE).blocks if each.language == "console")
    command, note, summary = block.body.splitlines()
    done = run(*command.split()[2:])
    assert done.err.splitlines() == [note]
    assert done.out.partition(" checked")[0] == summary.partition(" checked")[0]
