"""What clients read of tools that fail: no secrets, and no directories of this machine."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from sovl_tools import ToolRegistry
from tests.conftest import Run, Write, manifest_of
from tests.serving.apps import app_of, client_of
from tests.tables import check_each

NAME, SECRET = "SOVL_TEST_KEY", "sk-0123456789abcdef"
KEY = f"import os\nKEY = os.environ[{NAME!r}]\n"
CALL = "\n\ndef broken(text: str) -> str:\n    return text\n"

CODES = [
    f"{KEY}raise RuntimeError(KEY){CALL}",
    f"{KEY}raise RuntimeError(f'no {{KEY!r}} at {{__file__}}'){CALL}",
    f"{KEY}import importlib\nimportlib.import_module(KEY){CALL}",
    f"{KEY}open(f'/home/nobody/{{KEY}}.txt'){CALL}",
    f"open(__file__ + '.txt'){CALL}",
    f"{KEY}broken = KEY\n",
    f"{KEY}def broken(text: str) -> str:\n    raise RuntimeError(f'{{KEY}} in {{__file__}}')\n",
    f"{KEY}def broken(text: str) -> str:\n    return open(__file__ + KEY).read()\n",
]


def _assert_private(text: str, *places: Path) -> None:
    assert SECRET not in text
    for place in (*places, Path(sys.prefix), Path(json.__file__).parent):
        assert str(place) not in text


@check_each("code", CODES)
async def test_no_answer_over_the_network_has_a_secret_or_a_directory(
    code: str, write: Write, tmp_path: Path
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(NAME, SECRET)
        manifest = {**manifest_of("broken"), "requires": {"env": [NAME]}}
        registry = ToolRegistry.from_directory(write("broken", manifest, code).parent)
        async with client_of(app_of(registry)) as client:
            for path in ("/tools/broken", "/tools/broken/stream"):
                answer = await client.post(path, json={"text": "a"})
                assert "problem" in answer.text or answer.status_code >= 400
                _assert_private(answer.text, tmp_path)
            _assert_private((await client.get("/tools/broken")).text, tmp_path)
        for candidate in registry.report.folders:
            _assert_private(json.dumps(candidate.to_json()["diagnostics"] + [*candidate.reasons]))


@check_each("code", CODES[:9])
def test_no_command_shows_a_secret(code: str, write: Write, run: Run) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(NAME, SECRET)
        manifest = {**manifest_of("broken"), "requires": {"env": [NAME]}}
        tools = str(write("broken", manifest, code).parent)
        for command in (
            ["validate", tools],
            ["validate", tools, "--format", "json"],
            ["list", "--tools", tools],
            ["show", "broken", "--tools", tools],
            ["call", "broken", "text=a", "--tools", tools],
        ):
            done = run(*command)
            assert SECRET not in done.out + done.err
