"""A browser that shows the page of ``sovl-tools dev``."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Awaitable, Callable
from typing import Any

from playwright.async_api import expect

from tests.patience import PATIENCE
from tests.serving.dev_pages import TOKEN

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or "/usr/bin/chromium"
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
WAIT = float(os.environ.get("BROWSER_WAIT", PATIENCE)) * 1000
expect.set_options(timeout=WAIT)


class Views:
    """A tab that shows the page.

    Attributes:
        page: playwright's page.
        url: of the server.
        problems: errors of the console, and requests to other hosts.
        streams: how often it began to read the stream of events.
    """

    def __init__(self, page: Any, url: str) -> None:
        self.page = page
        self.url = url
        self.problems: list[str] = []
        self.streams = 0
        page.set_default_timeout(WAIT)
        page.on("console", self._told)
        page.on("pageerror", lambda error: self.problems.append(str(error)))
        page.on("request", self._asked)

    def _told(self, message: Any) -> None:
        # what the server rejects is shown by the page, and the browser notes it too
        if message.type in ("error", "warning") and "Failed to load resource" not in message.text:
            self.problems.append(message.text)

    def _asked(self, request: Any) -> None:
        self.streams += request.url.endswith("/dev/events")
        if not request.url.startswith((self.url, "data:")):
            self.problems.append(request.url)

    async def open(self, route: str = "/") -> None:
        """Go to a place of the page."""
        await self.page.goto(f"{self.url}/#token={TOKEN}&{route}")
        await expect(self.page.locator(".status.live")).to_be_visible()

    async def tool(self, name: str, tab: str = "") -> None:
        """Open a tool."""
        await self.open(f"/tools/{name}/{tab}" if tab else f"/tools/{name}")
        await expect(self.heading(name)).to_be_visible()

    def heading(self, name: str) -> Any:
        return self.page.get_by_role("heading", name=name, exact=True)

    def button(self, name: str) -> Any:
        return self.page.get_by_role("button", name=name, exact=True)

    def field(self, label: str) -> Any:
        """Return the field with a label; required ones end with a star."""
        return self.page.locator("#arguments").get_by_label(re.compile(rf"^{label}\*?$"))

    @property
    def result(self) -> Any:
        return self.page.locator("[aria-labelledby=result-title] [aria-live] .code")

    async def call(self) -> None:
        await self.page.keyboard.press("Control+Enter")

    async def sends(self) -> Callable[[], Awaitable[Any]]:
        """Answer calls here, and return the function that returns the last call's arguments."""
        sent: list[Any] = []

        async def answer(route: Any) -> None:
            sent.append(json.loads(route.request.post_data)["arguments"])
            result = {"ok": True, "value": len(sent), "content": [], "ms": 1, "version": ""}
            body = f"event: result\ndata: {json.dumps(result)}\n\n"
            await route.fulfill(body=body, content_type="text/event-stream")

        await self.page.route("**/call", answer)

        async def last() -> Any:
            before = len(sent)
            await self.call()
            await expect(self.result).to_have_text(str(before + 1))
            return sent[-1]

        return last
