"""What the page of ``sovl-tools dev`` writes into tools' folders."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from difflib import ndiff
from pathlib import Path
from typing import Any

import pytest

from tests.serving.dev_pages import Page, served_page, write_tool

COUNT = (
    "CALLS = []\n\ndef count(text: str) -> int:\n    CALLS.append(text)\n    return len(CALLS)\n"
)
ECHO = "def echo(text: str) -> dict:\n    return {'said': text}\n"


@pytest.fixture
async def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Page]:
    monkeypatch.chdir(tmp_path)
    write_tool(Path("tools"), "echo", ECHO, activation_phrases=["repeat after me"])
    write_tool(Path("tools"), "count", COUNT)
    async with served_page(Path("tools")) as page:
        yield page


async def save(page: Page, tool: str, **body: Any) -> tuple[int, Any]:
    version = (await page.get(f"tools/{tool}"))["version"]
    body = {"arguments": {"text": "a"}, "version": version, **body}
    answer = await page.client.post(f"/dev/tools/{tool}/examples", json=body)
    return answer.status_code, answer.json()


async def test_an_example_adds_its_own_lines_only(page: Page) -> None:
    manifest = page.tools / "echo" / "echo.json"
    before = manifest.read_text().splitlines()
    await page.call("echo", text="a")
    status, saved = await save(page, "echo", name="says a")
    assert (status, saved["path"]) == (200, "tools/echo/echo.json")
    after = manifest.read_text().splitlines()
    removed = [each for each in ndiff(before, after) if each.startswith("- ")]
    assert not removed
    assert json.loads(manifest.read_text())["examples"] == [
        {"description": "says a", "input": {"text": "a"}, "output": {"said": "a"}}
    ]
    assert '"says a"' in "\n".join(after[saved["line"] - 1 :])


async def test_an_example_isnt_saved_over_a_change(page: Page) -> None:
    manifest = page.tools / "echo" / "echo.json"
    status, error = await save(page, "echo", version="other")
    assert (status, error["error"]["type"]) == (409, "changed")
    assert "examples" not in manifest.read_text()


async def test_an_output_that_differs_is_kept_only_on_demand(page: Page) -> None:
    await page.call("count", text="a")
    status, answer = await save(page, "count")
    assert status == 409
    assert answer["error"] == {
        "type": "differs",
        "message": "the tool returns a different result each time",
        "first": 1,
        "second": 2,
    }
    assert (await save(page, "count", keep=True))[0] == 200
    (example,) = json.loads((page.tools / "count" / "count.json").read_text())["examples"]
    assert example == {"input": {"text": "a"}}


async def test_a_finding_is_fixed_where_that_is_sure(page: Page) -> None:
    manifest = page.tools / "echo" / "echo.json"
    async with page.events() as events:
        manifest.write_text(
            manifest.read_text().replace('"description": "Say', '"descripton": "Say')
        )
        await anext(events)
    tool = await page.get("tools/echo")
    (finding,) = [each for each in tool["findings"] if each["fixable"]]
    place = {"code": finding["code"], "line": finding["line"]}
    answer = await page.client.post("/dev/tools/echo/fix", json=place)
    assert answer.status_code == 200, answer.text
    assert '"description": "Say' in manifest.read_text()
    again = await page.client.post("/dev/tools/count/fix", json=place)
    assert again.status_code == 409


async def test_targets_say_what_providers_get_and_lose(page: Page) -> None:
    every = await page.get("tools/echo/as")
    assert "definition" not in every[0]
    strict = await page.get("tools/echo/as/openai-strict")
    assert strict["definition"]["function"]["strict"]
    assert strict["bytes"] > strict["tokens"] > 0
    assert (await page.client.get("/dev/tools/echo/as/other")).status_code == 404


async def test_find_says_where_phrases_are_and_why_tools_are_found(page: Page) -> None:
    found = await page.get("find", q="please repeat after me")
    (phrase,) = found["phrases"]
    assert (phrase["tool"], phrase["start"], phrase["end"]) == ("echo", 7, 22)
    match = found["search"][0]
    assert match["tool"] == "echo"
    assert match["words"][0]["word"] == "repeat"
