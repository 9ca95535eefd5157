from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest
import yaml

from sovl_tools.cli.main import COMMANDS
from sovl_tools.linting.rules import RULES
from tests.conftest import REPOSITORY, Run, Write, manifest_of


@pytest.fixture
def two(write: Write) -> None:
    manifest = manifest_of("echo", category="text", tags=["a", "b"], activation_phrases=["say it"])
    write("echo", manifest)
    more = {
        "title": "Shout",
        "instructions": "Never whisper.\nEver.",
        "tags": ["a"],
        "examples": [{"input": {"text": "a"}, "output": "a"}],
    }
    write("shout", manifest_of("shout", **more))


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("clean", "validate keeps no cache"),
        ("config", "validate --show-settings"),
        ("graph", "show PROCEDURE --format mermaid"),
        ("route-test", "test --routes FILE"),
        ("runs", "run --journal FILE --list"),
        ("stats", "export --tokens"),
    ],
)
def test_a_command_of_earlier_versions_says_where_it_went(run: Run, name: str, words: str) -> None:
    done = run(name, "--format", "json", "file")
    assert (done.code, done.out) == (2, "")
    assert words in done.err.splitlines()[-1]


@pytest.mark.parametrize("name", COMMANDS)
def test_help_breaks_no_word_and_fits_80_columns(run: Run, name: str) -> None:
    lines = run(name, "--help", COLUMNS="60").out.splitlines()
    assert not [line for line in lines if re.search(r"\w-$", line)]
    assert max(map(len, run(name, "--help", COLUMNS="80").out.splitlines())) <= 80


def test_list_says_how_many_did_not_load(run: Run, write: Write) -> None:
    write("odd", "{")
    done = run("list")
    reason = "tools/odd/odd.json:1:2: ST201 the text ends too early"
    assert (done.code, done.out.splitlines()) == (
        0,
        ["NAME  CATEGORY  TAGS  DESCRIPTION", f"odd                   rejected: {reason}"],
    )
    assert done.err == "1 tool did not load; sovl-tools validate shows the reason\n"


def _three(write: Write) -> None:
    write("echo")
    write("off", manifest_of("off", enabled=False))
    write("needy", manifest_of("needy", requires={"env": ["NOBODY_HAS_THIS"]}))


def test_what_is_not_loaded_is_dimmed_on_a_terminal(terminal: Run, write: Write) -> None:
    _three(write)
    lines = terminal("list", COLUMNS="60").out.splitlines()
    assert [line.startswith("\x1b[2m") for line in lines] == [False, False, True, True]
    assert "\x1b" not in terminal("list", NO_COLOR="1").out


@pytest.mark.usefixtures("two")
def test_show_tells_everything(run: Run) -> None:
    text = run("show", "shout").out
    for line in (
        "shout  tools/shout",
        "parameters:",
        "  text  string, required",
        "      What to say.",
        "title: Shout",
        "tags: a",
        "  Never whisper.",
    ):
        assert line in text.splitlines()
    document = json.loads(run("show", "shout", "--format", "json").out)
    assert document["parameters"]["required"] == ["text"]
    assert yaml.safe_load(run("show", "shout", "--format", "yaml").out) == document


def test_show_of_a_broken_or_unknown_tool_says_why(run: Run, write: Write) -> None:
    write("odd", "{")
    assert run("show", "odd").code == 1
    assert "ST201" in run("show", "odd").err
    assert run("show", "other").code == 2


@pytest.mark.usefixtures("two")
def test_match_prints_what_the_contract_says(run: Run) -> None:
    done = run("match", "please SAY it!", "--format", "json")
    place = {"start": 7, "end": 13, "score": 2 / 3, "arguments": {}}
    assert json.loads(done.out) == [{"tool": "echo", "phrase": "say it", **place}]
    assert run("match", "please say it").out == "echo  'say it' at 7-13, score 0.666667\n"
    assert "no activation phrase" in run("match", "nothing").out
    assert json.loads(run("match", "say it, say it", "--limit", "1", "--format", "json").out)
    assert run("match", "please", "say", "it").out == run("match", "please say it").out
    assert run("match").code == 2


def test_explain_prints_every_rule(run: Run) -> None:
    listed = run("explain").out
    assert [code for code in RULES if code not in listed] == []
    assert run("explain", "st402").out.startswith("ST402 (error): A required property")
    assert run("explain", "ST80").out.splitlines()[0].startswith("ST801  error    Two tools")
    unknown = run("explain", "ST400")
    assert (unknown.code, "there's no code 'ST400'" in unknown.err) == (2, True)


def test_a_rule_leads_to_its_page_on_the_site_that_the_distribution_names(
    write: Write, tmp_path: Path, run: Run
) -> None:
    write("echo", "{")
    site = tmp_path / "site" / "sovl_tools-1.0.dist-info"
    site.mkdir(parents=True)
    about = "Metadata-Version: 2.4\nName: sovl-tools\nVersion: 1.0\n"
    url = "Project-URL: Documentation, https://docs.example/latest/\n"
    (site / "METADATA").write_text(about + url, encoding="utf-8")

    path = f"{site.parent}{os.pathsep}{REPOSITORY}"
    page = "https://docs.example/latest/reference/rules/ST201/"
    assert run("explain", "ST201", PYTHONPATH=path).out.endswith(f"\n\nMore: {page}\n")
    found = run("validate", "--format", "sarif", PYTHONPATH=path).out
    rules = json.loads(found)["runs"][0]["tool"]["driver"]["rules"]
    assert [each["helpUri"] for each in rules] == [page]


def test_an_unknown_command_is_misuse_with_a_suggestion(run: Run) -> None:
    done = run("valdate")
    assert done.code == 2
    assert "did you mean 'validate'?" in done.err


def test_names_of_tools_are_completed_without_importing_any(run: Run, write: Write) -> None:
    write("echo", code="raise SystemExit\n")
    done = run(
        "", _SOVL_TOOLS_COMPLETE="bash_complete", COMP_WORDS="sovl-tools call e", COMP_CWORD="2"
    )
    assert done.out == "plain,echo\n"
