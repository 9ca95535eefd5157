"""The page of ``sovl-tools dev`` in a browser: all tests share one, and one server."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, chdir
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import async_playwright, expect

from sovl_tools import Policy, ToolRegistry
from sovl_tools.configuration import load_configuration
from sovl_tools.dev.app import DevApi
from sovl_tools.dev.calls import telling_what_is_printed
from tests.serving.browsers import CHROMIUM, FLAGS, Views
from tests.serving.dev_example import GREET, GREETS, GREETS_WRONGLY, write_example
from tests.serving.dev_pages import TOKEN, Page, served_page, write_tool
from tests.serving.servers import running

pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.skipif(
        not Path(CHROMIUM).exists(), reason="no browser: apt-get install chromium, or set CHROMIUM"
    ),
]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Page]:
    root = tmp_path_factory.mktemp("shop")
    write_example(root)
    with chdir(root):
        async with served_page(
            Path("tools"), procedures=Path("procedures"), approval="destructive"
        ) as page:
            yield page


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Any]:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        await browser.close()


@asynccontextmanager
async def tab(browser: Any, url: str, **options: Any) -> AsyncIterator[Views]:
    context = await browser.new_context(viewport={"width": 1280, "height": 800}, **options)
    views = Views(await context.new_page(), url)
    yield views
    assert views.problems == []
    await context.close()


@pytest_asyncio.fixture(loop_scope="module")
async def views(browser: Any, server: Page) -> AsyncIterator[Views]:
    async with tab(browser, str(server.client.base_url).rstrip("/")) as found:
        yield found


# forms


async def test_a_form_for_nested_arguments(views: Views) -> None:
    await views.tool("plan_trip")
    await views.field("title").fill("North")
    await views.button("Add stop").click()
    await views.page.keyboard.type("Oslo")  # the new field has the focus
    await views.field("nights").fill("2")
    await views.button("Add stop").click()
    await views.page.keyboard.type("Bergen")
    await views.button("Move stop 2 up").click()
    await views.field("pace").select_option("Fast")
    await views.button("budget: null").click()
    await views.page.get_by_label("Kind of pay").select_option("Card")
    await views.field("last4").fill("1234")
    await views.button("Add tag").click()
    await views.field("tag 1").select_option("sea")
    await views.button("Add labels").click()
    await views.page.keyboard.press("Enter")  # Add entry has the focus
    await views.field("key1").fill("7")
    await views.page.get_by_label("Key of entry key1").fill("code")
    await views.page.get_by_label("Key of entry key1").press("Tab")
    await views.button("Add party").click()
    await views.field("name").fill("all")
    await views.button("Add part").click()
    await views.field("name").last.fill("some")
    last = await views.sends()
    assert await last() == {
        "title": "North",
        "stops": [{"place": "Bergen"}, {"place": "Oslo", "nights": 2}],
        "pace": "fast",
        "budget": None,
        "pay": {"kind": "card", "last4": "1234"},
        "tags": ["sea"],
        "labels": {"code": "7"},
        "party": {"name": "all", "parts": [{"name": "some"}]},
    }
    await views.button("Remove stop 1").click()
    await views.button("Remove pay").click()
    await views.button("Remove party").click()
    await views.field("nights").fill("")
    assert await last() == {
        "title": "North",
        "stops": [{"place": "Oslo"}],
        "pace": "fast",
        "budget": None,
        "tags": ["sea"],
        "labels": {"code": "7"},
    }


ODD = {
    "anything": ({}, {"a": [1]}),
    "yes": (True, "x"),
    "tuple": ({"type": "array", "prefixItems": [{"type": "string"}]}, ["a", 2]),
    "types": ({"type": ["string", "integer", "null"]}, 5),
    "const": ({"const": {"a": 1}}, {"a": 1}),
    "mixed": ({"enum": [1, "1", None, True]}, "1"),
    "all_of": (
        {"allOf": [{"type": "object", "properties": {"a": {"type": "string"}}}]},
        {"a": "b"},
    ),
    "unknown_ref": ({"$ref": "https://example.com/x"}, [None]),
    "loop": ({"$ref": "#/$defs/loop"}, {"next": {"next": {}}}),
    "hostile": ({"type": "object", "properties": {"__proto__": {"type": "string"}}}, "PROTO"),
    "slash~/ x": ({"type": "string", "format": "date-time"}, "2025-01-31T12:00:00Z"),
    "patterns": ({"type": "object", "patternProperties": {"^x": {"type": "number"}}}, {"x1": 1.5}),
    "any_of": (
        {"anyOf": [{"type": "array", "items": {"type": "integer"}}, {"type": "string"}]},
        [3],
    ),
    "big": ({"type": "integer"}, 12345678901234567890),
}


async def show(views: Views, schema: Any, examples: Any = ()) -> None:
    """Show a tool that only the page knows."""
    detail = {"name": "odd", "description": "", "state": "loaded", "schema": schema, "files": []}
    more = {"examples": [{"arguments": each} for each in examples], "findings": []}
    await views.page.route("**/dev/tools/odd", lambda route: route.fulfill(json=detail | more))
    await views.tool("odd")


async def test_fourteen_odd_schemas(views: Views) -> None:
    schema = {
        "type": "object",
        "properties": {name: each for name, (each, _) in ODD.items()},
        "$defs": {"loop": {"type": "object", "properties": {"next": {"$ref": "#/$defs/loop"}}}},
    }
    values = {name: value for name, (_, value) in ODD.items()}
    values["hostile"] = json.loads('{"__proto__": "own"}')
    values["big"] = 7
    last = await views.sends()
    await show(views, schema, [values])
    assert await last() == {}  # what wasn't touched is left out
    await views.page.get_by_label("Fill in an example").select_option(index=1)
    assert await last() == values
    await views.field("big").fill(str(ODD["big"][1]))
    await views.field("mixed").select_option("true")
    await views.field("integer").fill("6")
    await views.field("anything").fill("[2")
    await views.call()
    await expect(views.page.get_by_role("alert")).to_contain_text("isn't JSON")
    await expect(views.field("anything")).to_be_focused()
    await views.field("anything").fill("[2]")
    changed = {"big": ODD["big"][1], "mixed": True, "types": 6, "anything": [2]}
    assert await last() == values | changed
    await views.button("as JSON").click()
    await views.page.locator("textarea.json").fill('{"yes": 1}')
    assert await last() == {"yes": 1}
    await views.button("as a form").click()
    await expect(views.field("yes")).to_have_value("1")


async def test_errors_are_at_their_fields_and_the_first_has_the_focus(views: Views) -> None:
    await views.tool("plan_trip")
    await views.field("title").fill("North")
    await views.button("Add stop").click()
    await views.field("nights").fill("many")
    await views.call()
    await expect(views.field("place")).to_be_focused()
    place = views.field("place")
    await expect(place).to_have_attribute("aria-invalid", "true")
    await expect(place).to_have_accessible_description(re.compile("is required"))
    nights = views.field("nights")
    await expect(nights).to_have_accessible_description(re.compile("must be an integer"))
    await place.fill("Oslo")
    await expect(place).to_have_attribute("aria-invalid", "false")
    await views.button("as JSON").click()
    await views.page.locator("textarea.json").fill('{"title": "a", "stops": [], "speed": 1}')
    await views.button("as a form").click()
    await views.call()
    await expect(views.field("speed")).to_have_accessible_description(re.compile("not a param"))


# calls


async def test_a_call_with_progress_and_output(views: Views) -> None:
    await views.tool("slow_count")
    await views.field("to").fill("3")
    with telling_what_is_printed():  # pytest replaces the output for each test
        await views.page.keyboard.press("Enter")
        await expect(views.result).to_have_text("3")
    log = views.page.get_by_role("log")
    await expect(log).to_contain_text("printed 3")
    await expect(log).to_contain_text("counted 1")
    await expect(
        views.page.get_by_role("button", name=re.compile('{"to":3}')).first
    ).to_be_visible()


async def test_a_call_is_stopped(views: Views) -> None:
    await views.tool("slow_count")
    await views.field("to").fill("1000000")
    await views.call()
    await expect(views.page.get_by_role("progressbar")).to_be_visible()
    await views.button("Stop").click()
    await expect(views.page.get_by_text("Stopped", exact=True)).to_be_visible()
    await expect(views.button("Stop")).to_have_count(0)


async def test_a_call_asks_and_needs_approval(views: Views) -> None:
    await views.tool("book_table")
    await views.field("day").fill("Friday")
    await views.call()
    dialog = views.page.get_by_role("dialog")
    await expect(dialog).to_contain_text("For how many on Friday?")
    await dialog.get_by_label("seats").fill("4")
    await views.page.keyboard.press("Enter")
    await expect(views.result).to_have_text("a table for 4")
    await views.call()
    await expect(dialog).to_be_visible()
    await views.page.keyboard.press("Escape")
    await expect(views.result).to_have_text("not booked")

    await views.tool("delete_all")
    await views.call()
    await expect(dialog).to_contain_text("Run delete_all?")
    await dialog.get_by_role("button", name="Deny").click()
    await expect(views.page.locator(".failure")).to_be_visible()
    await views.call()
    await dialog.get_by_role("button", name="Approve").click()
    await expect(views.result).to_have_text("gone")


# changes


async def test_a_broken_save_keeps_the_draft_and_the_focus(views: Views, server: Page) -> None:
    code = server.tools / "greet/greet.py"
    await views.tool("greet")
    await views.field("who").fill("Ad")
    code.write_text(GREETS_WRONGLY)
    await expect(views.page.get_by_text("Calls run the last good version.")).to_be_visible()
    await views.page.keyboard.type("a")
    await expect(views.field("who")).to_be_focused()
    await views.call()
    await expect(views.result).to_have_text("Hello, Ada.")
    await views.page.get_by_role("link", name="See 2 errors").click()
    finding = views.page.get_by_role("article").filter(has_text="ST402")
    await expect(finding.locator(".t-mark")).to_have_text('"who"')
    await expect(views.page.get_by_role("article").last).to_contain_text("whom")
    await views.page.get_by_role("link", name="Source").click()
    await expect(views.page.locator(".note")).to_have_count(2)
    code.write_text(GREETS.replace("Hello", "Welcome"))
    await expect(views.page.locator(".note")).to_have_count(0)
    await views.page.get_by_role("link", name="Call", exact=True).click()
    await expect(views.field("who")).to_have_value("Ada")
    await expect(views.page.get_by_text("result of an earlier version")).to_be_visible()
    code.write_text(GREETS)


async def test_the_page_comes_back_with_the_server(
    browser: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_tool(Path("tools"), "echo", "def echo(text):\n    return text\n")

    def app() -> Any:
        registry = ToolRegistry.from_directory("tools", pythonpath=False)
        settings = load_configuration(["tools"], imports=False)
        return DevApi(registry, settings, Policy()).app(TOKEN)

    with running(app()) as url:
        context = await browser.new_context()
        views = Views(await context.new_page(), url)
        await views.tool("echo")
        await views.field("text").fill("draft")
    await expect(views.page.get_by_text("reconnecting")).to_be_visible()
    write_tool(Path("tools"), "second", "def second(text):\n    return text\n")
    with running(app(), port=int(url.rpartition(":")[2])):
        await expect(views.page.locator(".status.live")).to_be_visible(timeout=5000)
        await expect(views.page.get_by_role("link", name="second")).to_be_visible()
        await expect(views.field("text")).to_be_focused()
        await expect(views.field("text")).to_have_value("draft")
        await views.call()
        await expect(views.result).to_have_text("draft")
        await views.page.reload()
        await expect(views.field("text")).to_have_value("draft")
        await context.close()
    assert views.problems == []


async def test_eight_tabs_share_one_stream(views: Views, server: Page) -> None:
    await views.open("/tools/greet")
    others = [views]
    for _ in range(7):
        page = await views.page.context.new_page()  # without the token, which the others have
        others.append(Views(page, views.url))
        await page.goto(f"{views.url}/#/tools/greet")
    for each in others:
        await expect(each.page.locator(".status.live")).to_be_visible()
    manifest = server.tools / "greet/greet.json"
    manifest.write_text(GREET.replace("Greet somebody by name.", "Greet all eight."))
    for each in others:
        await expect(each.page.get_by_text("Greet all eight.")).to_be_visible()
    assert [each.streams for each in others] == [1, *[0] * 7]
    await views.page.close()  # it had the stream
    manifest.write_text(GREET)
    for each in others[1:]:
        await expect(each.page.get_by_text("Greet somebody by name.")).to_be_visible()
    assert sum(each.streams for each in others) == 2
    assert [each.problems for each in others] == [[]] * 8


SAVES = """
RUNS = []


def saver(text: str) -> str:
    RUNS.append(text)
    return f"{text} {len(RUNS)}"
"""


async def test_an_example_is_saved_and_a_finding_fixed(views: Views, server: Page) -> None:
    manifest = write_tool(server.tools, "saver", SAVES) / "saver.json"
    before = manifest.read_text()
    await views.tool("saver")
    await views.field("text").fill("a")
    await views.call()
    await expect(views.result).to_have_text("a 1")
    await views.button("Save as example").click()
    await views.page.keyboard.type("an a")
    await views.page.keyboard.press("Enter")
    dialog = views.page.get_by_role("dialog")
    await expect(dialog).to_contain_text("The output differs")
    await dialog.get_by_role("button", name="Save without the output").click()
    await expect(views.page.get_by_text(re.compile("^Saved in tools/saver/"))).to_be_visible()
    await expect(views.page.get_by_label("Fill in an example")).to_contain_text("an a")
    assert set(before.splitlines()[:-3]) <= set(manifest.read_text().splitlines())
    manifest.write_text(manifest.read_text().replace('"description": "Say', '"descripton": "Say'))
    await views.page.get_by_role("link", name="Findings").click()
    await views.button("Fix").first.click()
    await expect(views.page.get_by_text(re.compile("is fixed in"))).to_be_visible()
    await expect(views.page.get_by_text("Nothing is wrong with it.")).to_be_visible()
    shutil.rmtree(manifest.parent)


async def test_a_procedure_runs_step_by_step(views: Views) -> None:
    await views.open("/procedures/planet_report")
    done = views.page.locator(".step.done")
    waiting = views.page.locator(".step.waiting")
    await views.button("Step by step").click()
    for number in range(3):
        await expect(waiting).to_have_count(1)
        await expect(done).to_have_count(number)
        if number < 2:
            await views.page.keyboard.press("n")
    await views.button("Stop").click()
    await expect(views.page.get_by_text("Stopped", exact=True)).to_be_visible()
    await expect(waiting).to_have_count(0)
    await expect(done).to_have_count(2)
    await views.field("moons").fill("5")
    await views.button("Step by step").click()
    await expect(waiting).to_have_count(1)
    await views.button("Run on").click()
    await expect(views.page.locator(".step.done .at").last).to_be_visible()
    await expect(views.page.get_by_role("img", name="chart")).to_be_visible()
    await expect(views.result).to_contain_text("Saturn")


# the rest of what it shows


HOSTILE = '<img src=x onerror="alert(1)">{{7*7}}'


async def test_hostile_texts_stay_text(views: Views, server: Page) -> None:
    svg = '<svg xmlns="http://www.w3.org/2000/svg"><script>parent.hit=1</script></svg>'
    folder = write_tool(
        server.tools,
        "hostile",
        f"def hostile(text):\n    return [{HOSTILE!r}, {svg!r}]\n",
        title=HOSTILE,
        description=HOSTILE,
        tags=["hostile"],
    )
    await views.tool("hostile")
    await views.field("text").fill(HOSTILE)
    await views.call()
    await expect(views.result).to_contain_text("onerror")
    await expect(views.page.get_by_text(HOSTILE, exact=True).first).to_be_visible()
    for route in ("/tools/hostile/source", f"/tools/{HOSTILE}", "/calls"):
        await views.open(route.replace("<", "%3C"))
    assert await views.page.evaluate("window.hit") is None
    assert await views.page.locator("img[src=x], #app script, main svg").count() == 0
    shutil.rmtree(folder)


async def test_the_keyboard_is_enough(views: Views) -> None:
    press = views.page.keyboard.press
    await views.open()
    await press("/")
    await views.page.keyboard.type("gree")
    await press("Enter")
    await expect(views.heading("greet")).to_be_visible()
    await press("Escape")  # clears the filter and leaves it
    await press("i")
    await views.page.keyboard.type("Ada")
    await press("Enter")
    await expect(views.result).to_have_text("Hello, Ada.")
    await press("Escape")
    for key, name in (("2", "Findings"), ("3", "Source"), ("4", "Providers"), ("1", "Call")):
        await press(key)
        link = views.page.get_by_role("link", name=name, exact=True)
        await expect(link).to_have_attribute("aria-current", "page")
    await press("j")
    await expect(views.heading("logo")).to_be_visible()
    await press("k")
    await expect(views.heading("greet")).to_be_visible()
    await press("?")
    await expect(views.page.get_by_role("dialog")).to_be_visible()
    await press("Escape")
    await expect(views.page.get_by_role("dialog")).to_have_count(0)
    await press("5")
    await expect(views.page.get_by_label("Text")).to_be_focused()


async def test_without_the_token_it_says_where_it_is(views: Views) -> None:
    await views.page.goto(f"{views.url}/")
    await expect(views.page.get_by_text("This tab has no token.")).to_be_visible()


ROUTES = (
    *("/", "/find", "/calls", "/tools/plan_trip", "/tools/old_sum", "/tools/render_pdf"),
    *("/tools/greet/findings", "/tools/greet/source", "/tools/plan_trip/providers"),
    "/procedures/planet_report",
)


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_every_view_is_accessible_and_narrow_ones_fit(
    browser: Any, server: Page, scheme: str
) -> None:
    axe = resources.files("axe_playwright_python") / "axe.min.js"
    # what isn't a matter of colour is the same in both
    only = {"runOnly": ["color-contrast"]} if scheme == "dark" else {}
    rules = {"resultTypes": ["violations"], **only}
    url = str(server.client.base_url).rstrip("/")
    (server.tools / "greet/greet.py").write_text(GREETS_WRONGLY)
    async with tab(browser, url, color_scheme=scheme, bypass_csp=True) as views:
        await views.open()
        await views.page.evaluate(axe.read_text())
        for route in ROUTES:
            await views.page.evaluate("route => { location.hash = route }", route)
            await expect(views.page.locator("main")).not_to_contain_text("Loading")
            where = "html" if route == ROUTES[0] else "main"  # the frame is the same everywhere
            found = await views.page.evaluate(AXE, [where, rules])
            assert [summary(each) for each in found["violations"]] == []
            await views.page.set_viewport_size({"width": 760, "height": 700})
            assert await views.page.evaluate(OVERFLOW) == []
            await views.page.set_viewport_size({"width": 1280, "height": 800})
        await views.page.keyboard.press("?")
        await expect(views.page.get_by_role("dialog")).to_be_visible()
        found = await views.page.evaluate(AXE, ["dialog", rules])
        assert [summary(each) for each in found["violations"]] == []
    (server.tools / "greet/greet.py").write_text(GREETS)


AXE = "([where, rules]) => axe.run(where, rules)"
OVERFLOW = """() => [document.documentElement, ...document.querySelectorAll("main, nav, main *")]
    .filter(each => each.scrollWidth > each.clientWidth + 1 && each.clientWidth &&
        (each === document.documentElement || getComputedStyle(each).overflowX !== "hidden") &&
        ["MAIN", "NAV", "HTML"].includes(each.tagName))
    .map(each => each.tagName)"""


def summary(violation: Any) -> str:
    nodes = [(each["html"][:120], each["failureSummary"][:200]) for each in violation["nodes"][:2]]
    return f"{violation['id']}: {nodes}"
