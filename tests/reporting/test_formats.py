from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sovl_tools.reporting.outcome import render
from tests.reporting.findings import ODD, WRONG, diagnostic, folder, outcome
from tests.schema.strategies import moderate

FOLDERS = (folder("echo", "loaded"), folder("ehco", "rejected"), folder("off", "disabled"))
SHOWN = outcome(WRONG, ODD, folders=FOLDERS, duration=0.5)


@pytest.fixture(scope="module", autouse=True)
def elsewhere() -> Iterator[None]:
    """Let these tests be the same in a workflow of GitHub's."""
    with pytest.MonkeyPatch.context() as environment:
        environment.delenv("GITHUB_WORKSPACE", raising=False)
        yield


@pytest.mark.parametrize("format_", ["text", "concise"])
def test_what_a_terminal_would_obey_never_reaches_it(format_: str) -> None:
    evil = diagnostic(message="\x1b[2J\nfake:1:1: ST000", path="a\u202eb.json", help="\x07")
    text = render(outcome(evil), format_)
    assert text.startswith(r"a\u202eb.json:4:3: ST201 \x1b[2J\nfake:1:1: ST000")
    assert not {"\x1b", "\x07", "\u202e"} & set(text)


def test_github_has_a_command_for_each_diagnostic_and_a_notice() -> None:
    assert render(SHOWN, "github").split("\n") == [
        "::error file=tools/echo/x.json,line=4,col=3,title=ST201::a comma is missing",
        f"::warning file=tools/echo,title=ST202::{ODD.message}%0Ahelp: {ODD.help}",
        f"::notice title=sovl-tools::{SHOWN.summary}",
    ]


def unescaped(text: str) -> str:
    for escape, letter in (("%3A", ":"), ("%2C", ","), ("%0D", "\r"), ("%0A", "\n"), ("%25", "%")):
        text = text.replace(escape, letter)
    return text


@moderate
@given(*[st.text("a%25:,\r\nAD", max_size=12)] * 2)
def test_github_gives_back_what_was_put_in(path: str, message: str) -> None:
    command = render(outcome(diagnostic(path=path, message=message)), "github").split("\n")[0]
    head, properties, said = command.split("::", 2)[0], *command.split("::", 2)[1:]
    assert head == ""
    fields = dict(each.split("=", 1) for each in properties.removeprefix("error ").split(","))
    assert unescaped(fields["file"]) == path
    assert unescaped(said) == message


@pytest.mark.parametrize(
    ("workspace", "path", "shown"),
    [
        ("", "tools/a.json", "sub/x/tools/a.json"),
        ("", "../a.json", "sub/a.json"),
        ("link", "tools/a.json", "sub/x/tools/a.json"),
        ("su", "tools/a.json", "tools/a.json"),
    ],
)
def test_github_is_told_paths_from_its_workspace(
    workspace: str, path: str, shown: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sub" / "x").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path)
    monkeypatch.chdir(tmp_path / "sub" / "x")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path / workspace))
    text = render(outcome(diagnostic(path=path)), "github")
    assert text.startswith(f"::error file={shown},")
    monkeypatch.delenv("GITHUB_WORKSPACE")
    assert render(outcome(diagnostic(path=path)), "github").startswith(f"::error file={path},")
