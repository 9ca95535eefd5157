"""Takes the pictures of the page of ``sovl-tools dev`` that the documentation shows.

    .venv/bin/python scripts/docs/screens.py        # into docs/assets

It needs a browser, as the tests of the page do: ``apt-get install chromium``. With Pillow the
files are smaller.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from collections.abc import Awaitable, Callable
from contextlib import chdir
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).parents[2]
sys.path.insert(0, str(REPOSITORY))

from playwright.async_api import async_playwright  # noqa: E402

from tests.serving.browsers import CHROMIUM, FLAGS, Views  # noqa: E402
from tests.serving.dev_example import GREETS_WRONGLY, write_example  # noqa: E402
from tests.serving.dev_pages import served_page  # noqa: E402

IMAGES = REPOSITORY / "docs" / "assets"
CRISP = ("--disable-lcd-text", "--force-color-profile=srgb")
COLORS = 96
SIZE: Any = {"width": 1280, "height": 800}


async def call(views: Views) -> None:
    """A call with nested arguments."""
    await views.tool("plan_trip")
    await views.field("title").fill("North")
    await views.button("Add stop").click()
    await views.field("place").fill("Oslo")
    await views.field("nights").fill("2")
    await views.call()
    await views.result.wait_for()
    await views.page.locator("main").evaluate("main => main.scrollTo(0, 0)")


async def findings(views: Views) -> None:
    """A tool whose files contradict each other."""
    await views.tool("greet", "findings")


async def providers(views: Views) -> None:
    """What a provider gets and loses."""
    await views.open("/tools/plan_trip/providers?target=gemini")
    await views.heading("What gemini loses").wait_for()
    await views.page.get_by_text('"parametersJsonSchema"').wait_for()


async def procedure(views: Views) -> None:
    """A procedure that has run."""
    await views.open("/procedures/planet_report")
    await views.button("Run").click()
    await views.page.get_by_role("img", name="chart").wait_for()


async def find(views: Views) -> None:
    """The tools that a text finds."""
    await views.open("/find")
    await views.page.get_by_label("Text").fill("could you plan a trip and draw a chart of it")
    await views.page.locator("mark").nth(1).wait_for()


SCREENS: tuple[Callable[[Views], Awaitable[None]], ...] = (
    call, findings, providers, procedure, find,
)  # fmt: skip


def shrink(path: Path) -> None:
    """Write a picture with few colours, a third of its size, if Pillow is installed."""
    if find_spec("PIL") is not None:
        image: Any = import_module("PIL.Image")
        image.open(path).convert("RGB").quantize(COLORS, dither=0).save(path, optimize=True)


async def main() -> None:
    """Write each picture, in light and in dark."""
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        root = Path(folder)
        write_example(root)
        async with (
            served_page(Path("tools"), procedures=Path("procedures")) as server,
            async_playwright() as playwright,
        ):
            async with server.events() as events:
                (root / "tools/greet/greet.py").write_text(GREETS_WRONGLY)
                await anext(events)
            browser = await playwright.chromium.launch(
                executable_path=CHROMIUM, args=[*FLAGS, *CRISP]
            )
            for scheme in ("light", "dark"):
                for screen in SCREENS:
                    context = await browser.new_context(
                        viewport=SIZE, color_scheme=scheme, reduced_motion="reduce"
                    )
                    views = Views(await context.new_page(), str(server.client.base_url).rstrip("/"))
                    await screen(views)
                    path = IMAGES / f"dev-{screen.__name__}-{scheme}.png"
                    await views.page.screenshot(path=path)
                    shrink(path)
                    await context.close()
            await browser.close()


if __name__ == "__main__":
    asyncio.run(main())
