"""``sovl-tools dev``: what the page asks for, and what it hears."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from sovl_tools.dev.calls import telling_what_is_printed
from tests.serving.dev_pages import TOKEN, Page, served_page, write_tool

GREET = (
    'def greet(text: str) -> str:\n    """Greet."""\n    print("hi")\n    return f"Hello, {text}"\n'
)


@pytest.fixture
async def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Page]:
    monkeypatch.chdir(tmp_path)
    write_tool(Path("tools"), "greet", GREET, activation_phrases=["say hello"])
    async with served_page(Path("tools")) as page:
        yield page


async def test_the_page_lists_the_tools_with_their_states(page: Page) -> None:
    state = await page.get("state")
    (greet,) = state["tools"]
    assert (greet["name"], greet["state"], greet["errors"]) == ("greet", "loaded", 0)
    assert state["targets"][:3] == ["json-schema", "openai", "openai-strict"]
    assert state["last_change"] is None
    assert state["event"] == f"{state['session']}.0"


async def test_a_tool_comes_with_its_files_and_findings(page: Page) -> None:
    tool = await page.get("tools/greet")
    assert [each["path"] for each in tool["files"]] == [
        "tools/greet/greet.json",
        "tools/greet/greet.py",
    ]
    assert tool["files"][1]["text"] == GREET
    assert tool["schema"]["required"] == ["text"]
    unknown = await page.client.get("/dev/tools/gret")
    assert unknown.status_code == 404
    assert unknown.json()["error"]["type"] == "unknown_tool"


async def test_a_call_reports_what_it_prints_and_its_result(page: Page) -> None:
    with telling_what_is_printed():  # here, since pytest replaces the output for each test
        *others, (last, result) = await page.call("greet", text="Ada")
    assert {(name, data["level"]) for name, data in others} == {("log", "print")}
    assert "".join(data["message"] for _, data in others) == "hi\n"
    assert (last, result["ok"], result["value"]) == ("result", True, "Hello, Ada")
    wrong = (await page.call("greet", text=3))[-1][1]
    assert not wrong["ok"]
    assert wrong["error"]["type"] == "invalid_arguments"
    assert wrong["error"]["errors"][0]["pointer"] == "/text"


async def test_the_page_hears_of_changes_and_catches_up(page: Page) -> None:
    async with page.events() as events:
        broken = GREET.replace("text: str", "who: str")
        (page.tools / "greet" / "greet.py").write_text(broken)
        change = await anext(events)
    assert change["event"] == "change"
    (row,) = change["data"]["tools"]
    assert (row["state"], row["errors"]) == ("last_good", 2)
    news = change["data"]["last_change"]
    assert news["text"] == "rejected greet: the last good version keeps serving"
    assert news["level"] == "error"
    assert (await page.call("greet", text="Ada"))[-1][1]["ok"], "the last good version answers"
    async with page.events(change["id"]) as events:
        begun, ended = await anext(events), await anext(events)
    assert [begun["data"]["state"], ended["data"]["state"]] == ["running", "done"]
    async with page.events("other.1") as events:
        assert (await anext(events))["event"] == "reset"


async def test_a_version_changes_with_the_code_and_results_have_theirs(page: Page) -> None:
    (before,) = (await page.get("state"))["tools"]
    assert (await page.call("greet", text="Ada"))[-1][1]["version"] == before["version"]
    async with page.events() as events:
        (page.tools / "greet" / "greet.py").write_text(GREET.replace("Hello", "Hi"))
        change = await anext(events)
    (row,) = change["data"]["tools"]
    assert row["version"] != before["version"]
    assert (await page.call("greet", text="Ada"))[-1][1]["version"] == row["version"]
    versions = [each["version"] for each in (await page.get("history"))["calls"]]
    assert versions == [row["version"], before["version"]]


@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [
        ("/", {}, 200),
        ("/static/app.js", {}, 200),
        ("/static/../dev/app.py", {}, 401),
        ("/dev/state", {"Authorization": f"Bearer {TOKEN}"}, 200),
        ("/dev/state", {}, 401),
        ("/dev/events", {}, 401),
        ("/dev/state", {"Authorization": "Bearer other"}, 401),
        ("/dev/state", {"Authorization": f"Bearer {TOKEN}", "Host": "evil.example"}, 421),
        ("/", {"Host": "evil.example"}, 421),
        ("/static/app.js", {"Host": "evil.example"}, 421),
        ("/dev/state", {"Authorization": f"Bearer {TOKEN}", "Origin": "https://a.example"}, 403),
        ("/dev/state", {"Authorization": f"Bearer {TOKEN}", "Origin": "null"}, 403),
    ],
)
async def test_requests_of_strangers_are_rejected(
    page: Page, path: str, headers: dict[str, str], status: int
) -> None:
    async with httpx.AsyncClient(base_url=page.client.base_url) as stranger:
        answer = await stranger.get(path, headers=headers)
    assert answer.status_code == status
    assert "require-trusted-types-for 'script'" in answer.headers["content-security-policy"]
