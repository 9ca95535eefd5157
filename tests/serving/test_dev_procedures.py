"""Procedures on the page of ``sovl-tools dev``: their steps, and runs step by step."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.serving.dev_pages import Page, sent_events, served_page, write_tool

ECHO = "def echo(text: str) -> str:\n    return text\n"
PROCEDURE = """\
name: report
description: Say it twice, and more.
inputs:
  type: object
  properties: {text: {type: string, description: What to say.}}
  required: [text]
steps:
  - action: tool
    tool: echo
    arguments: {text: "{{ inputs.text }}"}
    save_as: first
  - action: if
    condition: first == 'skip'
    then:
      - action: return
        value: nothing
  - action: for_each
    items: [1, 2]
    steps:
      - action: tool
        tool: echo
        arguments: {text: again}
output: "{{ first }}!"
"""


@pytest.fixture
async def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Page]:
    monkeypatch.chdir(tmp_path)
    write_tool(Path("tools"), "echo", ECHO)
    file = tmp_path / "procedures" / "report.yaml"
    file.parent.mkdir()
    file.write_text(PROCEDURE)
    async with served_page(Path("tools"), procedures=Path("procedures")) as page:
        yield page


async def test_a_procedure_comes_with_its_steps(page: Page) -> None:
    (row,) = (await page.get("state"))["procedures"]
    assert (row["name"], row["state"]) == ("report", "loaded")
    found = await page.get("procedures/report")
    assert [(each["id"], each["kind"], each["title"]) for each in found["steps"]] == [
        ("1", "tool", "tool echo"),
        ("2", "if", "if first == 'skip'"),
        ("3", "for_each", "for each item in [1, 2]"),
    ]
    assert found["steps"][0]["result_name"] == "first"
    (branch,) = found["steps"][1]["branches"]
    assert (branch["label"], branch["steps"][0]["id"]) == ("then", "2.1.1")
    assert found["mermaid"].startswith("flowchart TD")
    assert found["inputs"]["required"] == ["text"]


async def run(page: Page, text: Any, **more: Any) -> list[tuple[str, Any]]:
    """Run the procedure, answering each wait with a step, and return the events."""
    found = []
    body = {"inputs": {"text": text}, **more}
    url = "/dev/procedures/report/run"
    async with page.client.stream("POST", url, json=body) as response:
        async for each in sent_events(response):
            found.append((each["event"], each["data"]))
            if each["event"] == "waiting":
                assert await next_step(page, each["data"]["run"]) == 204
    return found


async def next_step(page: Page, run_id: str, action: str = "next") -> int:
    return (await page.client.post(f"/dev/runs/{run_id}/{action}")).status_code


async def test_a_run_tells_of_each_step(page: Page) -> None:
    (started, _), *steps, (last, result) = await run(page, "a")
    assert (started, last, result["ok"], result["value"]) == ("started", "result", True, "a!")
    done = [(data["step"], data["count"]) for _, data in steps if data["state"] == "done"]
    assert done == [("1", 1), ("2", 1), ("3.1.1", 1), ("3.1.1", 2), ("3", 1)]
    assert steps[1][1]["value"] == "a"
    rows = (await page.get("history"))["calls"]
    assert [each["tool"] for each in rows] == ["echo"] * 3


async def test_a_run_can_run_on_or_be_stopped(page: Page) -> None:
    body = {"inputs": {"text": "a"}, "stepping": True}
    for action, expected in (("resume", None), ("stop", "cancelled")):
        async with page.client.stream("POST", "/dev/procedures/report/run", json=body) as response:
            waits, last = 0, dict[str, Any]()
            async for each in sent_events(response):
                if each["event"] == "waiting":
                    waits += 1
                    assert await next_step(page, each["data"]["run"], action) == 204
                last = each["data"]
        assert waits == 1
        assert last.get("error", {}).get("type") == expected
    assert await next_step(page, "other") == 404


async def test_wrong_inputs_have_their_places(page: Page) -> None:
    (_, error) = (await run(page, 3))[-1]
    assert not error["ok"]
    assert error["error"]["errors"][0]["pointer"] == "/text"


async def test_a_step_that_fails_is_named(page: Page) -> None:
    write_tool(page.tools, "echo", "def echo(text: str) -> str:\n    raise ValueError(text)\n")
    async with page.events() as events:
        await anext(events)
    found = await run(page, "a")
    assert found[-2][1]["state"] == "failed"
    assert found[-1][1]["step"] == "1"
    assert "ValueError" in json.dumps(found[-1][1])


async def test_a_view_shows_its_tools_and_procedures_call_the_others(page: Page) -> None:
    file = page.tools.parent / "procedures" / "report.yaml"
    file.write_text(f"{PROCEDURE}tags: [shown]\n")
    async with served_page(page.tools, procedures=file.parent, tags="shown") as view:
        state = await view.get("state")
        assert (state["tools"], [each["name"] for each in state["procedures"]]) == ([], ["report"])
        assert (await view.client.post("/tools/echo", json={"text": "a"})).status_code == 404
        assert (await run(view, "a"))[-1][1]["value"] == "a!"
