"""Files of environment variables, and the settings of calls in the configuration."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sovl_tools import Policy, SovlToolsError, Tooler, open_registry
from sovl_tools.configuration import configuration
from sovl_tools.model.env_file import parse_env
from tests.conftest import Write, manifest_of
from tests.tables import check_each


@check_each(
    ("text", "expected"),
    [
        ("A=1", {"A": "1"}),
        ("# x\n\nexport A = 1 2 \nB=", {"A": "1 2", "B": ""}),
        ("A=x#y\nB=x #y\nC=#y", {"A": "x#y", "B": "x", "C": ""}),
        ("A='x # y'\nB=\"x # y\" # z", {"A": "x # y", "B": "x # y"}),
        ('A="a\\nb\\"c\\\\"', {"A": 'a\nb"c\\'}),
        ("A='a\\nb'", {"A": "a\\nb"}),
        ("A=$HOME", {"A": "$HOME"}),
        ("A=1\nA=2", {"A": "2"}),
        ("A=a=b", {"A": "a=b"}),
    ],
)
def test_a_file_of_variables(text: str, expected: dict[str, str]) -> None:
    assert parse_env(text) == expected


@pytest.fixture
def _project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, write: Write) -> Iterator[None]:
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SHOP_KEY", "before")
    monkeypatch.delenv("SHOP_URL", raising=False)
    source = "from os import environ\n\ndef echo(text):\n"
    source += "    return [environ['SHOP_KEY'], environ['SHOP_URL']]\n"
    write("echo", manifest_of("echo", requires={"env": ["SHOP_KEY", "SHOP_URL"]}), source)
    (tmp_path / ".env").write_text("SHOP_KEY=file\nSHOP_URL='local'\n")
    (tmp_path / "sovl-tools.toml").write_text('env-file = ".env"\n')
    yield
    os.environ.pop("SHOP_URL", None)


@pytest.mark.usefixtures("_project")
def test_the_variables_of_the_project_complete_the_environment(tmp_path: Path) -> None:
    tooler = Tooler(open_registry())
    assert tooler.call_sync("echo", {"text": ""}).value == ["before", "local"]
    (tmp_path / ".env").write_text("SHOP_KEY\n")
    with pytest.raises(SovlToolsError, match=r"\.env.*line 1 is not NAME=value"):
        open_registry()
    (tmp_path / ".env").unlink()
    assert "echo" in open_registry()


@check_each(
    ("line", "expected"),
    [
        ("timeout = 3", Policy(timeout=3)),
        ("max-timeout = 3", Policy(timeout_ceiling=3)),
        ("max-result-bytes = 3", Policy(result_ceiling=3)),
        ('mode = "process"', Policy(mode="process")),
        ('coerce = "lenient"', Policy(coerce="lenient")),
        ("retry = 3", Policy(retry=3)),
        ("max-concurrency = 3", Policy(max_concurrency=3)),
        ("cache-seconds = 3", Policy(cache_seconds=3)),
        ('rate-limit = "3/min"', Policy(rate_limit="3/min")),
        ('approval = "always"', Policy(approval="always")),
        ('approval = ["zap_*"]', Policy(approval=("zap_*",))),
    ],
)
def test_the_configuration_has_the_settings_of_calls(
    line: str, expected: Policy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sovl-tools.toml").write_text(f"{line}\n")
    assert configuration().policy == expected


@check_each(
    "line", ["timeout = 0", 'mode = "fast"', 'rate-limit = "3"', 'approval = "maybe"', "retry = 0"]
)
def test_wrong_settings_of_calls_are_rejected(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sovl-tools.toml").write_text(f"{line}\n")
    with pytest.raises(SovlToolsError, match=line.split(maxsplit=1)[0]):
        configuration()
