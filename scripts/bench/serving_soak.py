"""Many calls by many clients while folders are edited: nothing fails, is lost or grows.

Starts `sovl-tools serve`, connects clients of both eras of the protocol, and edits folders all the
time. It counts calls that failed, waits after each edit until every client has heard of it and
lists what it says, and looks at memory and descriptors. Over HTTP all clients share one server;
over stdio each has its own, and what is printed is the sum of them.

    python scripts/bench/serving_soak.py [--transport stdio] [--clients 8] [--calls 20000]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from serving import connected, cpu_of, environment, free_port, write_tools

STABLE = 40
PATIENCE = 60.0
MODERN = "2026-07-28"
_GROWTH = 1.05
_SPARE = 4 << 20
_PAUSE = 0.5


class Sample(NamedTuple):
    """What a server holds: bytes of memory, open descriptors, threads."""

    memory: int
    descriptors: int
    threads: int

    @classmethod
    def of_all(cls, pids: list[int]) -> Sample:
        return cls(*map(sum, zip(*map(cls.of, pids), strict=True)))

    @classmethod
    def of(cls, pid: int) -> Sample:
        status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
        values = dict(line.split(":", 1) for line in status.splitlines() if ":" in line)
        count = len([*Path(f"/proc/{pid}/fd").iterdir()])
        return cls(int(values["VmRSS"].split()[0]) << 10, count, int(values["Threads"]))


class Listener:
    """A client that counts what it is told of changes."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.heard = 0
        self.changed = asyncio.Condition()

    async def hear(self) -> None:
        async with self.changed:
            self.heard += 1
            self.changed.notify_all()

    async def wait_for(self, is_so: Callable[[set[str]], bool]) -> None:
        """Wait until the list is as it should be; it is read again only after news."""
        while True:
            before = self.heard
            tools = (await self.client.list_tools()).tools
            if is_so({f"{each.name}: {each.description}" for each in tools}):
                return
            async with self.changed:
                await self.changed.wait_for(lambda: self.heard > before)  # noqa: B023 - waits here


@asynccontextmanager
async def listener(place: Any, mode: str) -> AsyncIterator[Listener]:
    """Connect a client that hears of changes."""
    made: list[Listener] = []

    async def handle(message: Any) -> None:
        if getattr(message, "method", "") == "notifications/tools/list_changed":
            await made[0].hear()

    async with AsyncExitStack() as stack:
        client = Client(place, mode=mode, message_handler=handle, cache=None)
        made.append(Listener(await stack.enter_async_context(client)))
        if mode == MODERN:
            events = await stack.enter_async_context(client.listen(tools_list_changed=True))

            async def follow() -> None:
                async for _ in events:
                    await made[0].hear()

            task = asyncio.create_task(follow())
            stack.callback(task.cancel)
        yield made[0]


class Editor:
    """Edits folders, and waits after each edit until everybody knows."""

    def __init__(self, tools: Path, listeners: list[Listener]) -> None:
        self.tools, self.listeners = tools, listeners
        self.edits = self.lost = 0

    async def run(self) -> None:
        """Edit one way after another until it is cancelled."""
        while True:
            number = self.edits
            await self._edit(self._describe, f"edited: Version {number}.", is_there=True)
            await self._edit(self._drop, f"dropped{number}: Dropped.", is_there=True)
            await self._edit(self._remove, f"dropped{number}: Dropped.", is_there=False)

    async def _edit(self, how: Callable[[int], None], line: str, *, is_there: bool) -> None:
        await asyncio.to_thread(how, int("".join(filter(str.isdigit, line))))
        waits = [
            each.wait_for(lambda lines: (line in lines) == is_there) for each in self.listeners
        ]
        try:
            await asyncio.wait_for(asyncio.gather(*waits), PATIENCE)
        except TimeoutError:
            self.lost += 1
        self.edits += 1
        await asyncio.sleep(_PAUSE)

    def _describe(self, number: int) -> None:
        write(self.tools, "edited", f"Version {number}.", code=f"\nVERSION = {number}\n")

    def _drop(self, number: int) -> None:
        write(self.tools, f"dropped{number}", "Dropped.")

    def _remove(self, number: int) -> None:
        shutil.rmtree(self.tools / f"dropped{number}")


def write(tools: Path, name: str, description: str, code: str = "") -> None:
    """Write a folder as an editor does: each file in one step."""
    folder = tools / name
    folder.mkdir(exist_ok=True)
    properties = {"city": {"type": "string", "description": "The city."}}
    parameters = {"type": "object", "properties": properties, "required": ["city"]}
    manifest = {"name": name, "description": description, "parameters": parameters}
    source = f"def {name}(city: str) -> dict:\n    return {{'city': city}}\n"
    for suffix, text in ((".json", json.dumps(manifest, indent=2)), (".py", source + code)):
        draft = folder / f".{name}{suffix}"
        draft.write_text(text, encoding="utf-8")
        draft.replace(folder / f"{name}{suffix}")


class Callers:
    """Call tools until that has been done so many times; keep what failed."""

    def __init__(self, calls: int) -> None:
        self.left = self.total = calls
        self.failures: list[str] = []

    async def run(self, client: Client, number: int) -> None:
        while self.left > 0:
            self.left -= 1
            name = "edited" if self.left % 10 == 0 else f"weather{self.left % STABLE}"
            city = f"{number}-{self.left}"
            try:
                result = await client.call_tool(name, {"city": city})
                is_right = not result.is_error and result.structured_content["city"] == city
                words = str(result)[:300]
            except Exception as error:  # noqa: BLE001 - counted, whatever it is
                is_right, words = False, f"{type(error).__name__}: {error}"
            if not is_right:
                self.failures.append(f"{name}: {words}")


async def soak(
    places: list[Any], tools: Path, pids_of: Callable[[], list[int]], options: argparse.Namespace
) -> bool:
    """Return whether all went well with a client at each place, a URL or a transport."""
    async with AsyncExitStack() as stack:
        listeners = [
            await stack.enter_async_context(listener(place, ("legacy", MODERN)[index % 2]))
            for index, place in enumerate(places)
        ]
        pids = pids_of()
        editor, callers = Editor(tools, listeners), Callers(options.calls)
        editing = asyncio.create_task(editor.run())
        calling = asyncio.gather(*(callers.run(e.client, i) for i, e in enumerate(listeners)))
        samples: list[Sample] = []
        before, shown = sum(map(cpu_of, pids)), 0
        while not calling.done():
            tasks: list[asyncio.Future[Any]] = [calling, editing]
            await asyncio.wait(tasks, timeout=0.5, return_when="FIRST_COMPLETED")
            if editing.done():
                editing.result()
            done = callers.total - callers.left
            if done >= shown + options.calls // 20:
                shown = done
                samples.append(Sample.of_all(pids))
                print(f"{done:6} calls, {editor.edits:4} edits, {samples[-1]}", flush=True)
        cost = (sum(map(cpu_of, pids)) - before) / options.calls * 1e6
        editing.cancel()
        await asyncio.wait([editing])
        samples.append(Sample.of_all(pids))
    return report(samples, editor, callers, cost)


def report(samples: list[Sample], editor: Editor, callers: Callers, cost: float) -> bool:
    """Print what came of it; tell whether nothing failed, was lost or grew."""
    # the first quarter fills pools and caches
    warm = samples[len(samples) // 4 :]
    first, last = warm[: len(warm) // 3 + 1], warm[-(len(warm) // 3 + 1) :]
    most = [max(each.memory for each in part) for part in (first, last)]
    is_flat = most[1] <= most[0] * _GROWTH + _SPARE
    counts = [max(each.descriptors for each in part) for part in (first, last)]
    is_tight = counts[1] <= counts[0]
    for failure in callers.failures[:5]:
        print(f"failed: {failure}")
    print(f"failed calls       {len(callers.failures):6} of {callers.total}, {cost:.0f} us each")
    print(f"lost notifications {editor.lost:6} of {editor.edits} edits")
    print(f"memory             {most[0] >> 20:6} -> {most[1] >> 20} MiB, flat: {is_flat}")
    print(f"descriptors        {counts[0]:6} -> {counts[1]}, flat: {is_tight}")
    is_well = not callers.failures and not editor.lost and editor.edits > 0 and is_flat and is_tight
    print("met" if is_well else "missed")
    return is_well


def over_http(tools: Path, options: argparse.Namespace) -> bool:
    """Return whether all went well with one server for all clients."""
    port = free_port()
    serve = ["-m", "sovl_tools", "-q", "serve", "--transport", "http", "--port", str(port)]
    command = [sys.executable, *serve, "--tools", str(tools)]
    with subprocess.Popen(command, env=environment()) as process:
        try:
            connected(process, port)
            places = [f"http://127.0.0.1:{port}/mcp"] * options.clients
            return asyncio.run(soak(places, tools, lambda: [process.pid], options))
        finally:
            process.terminate()


def over_stdio(tools: Path, options: argparse.Namespace) -> bool:
    """Return whether all went well with a server for each client, which that one starts."""
    known = [tools.parent / f"pid{index}" for index in range(options.clients)]
    serve = [sys.executable, "-m", "sovl_tools", "-q", "serve", "--tools", str(tools)]
    places = [
        stdio_client(
            StdioServerParameters(
                command="sh",
                # the SDK does not say which process it has started
                args=["-c", 'echo $$ > "$0"; exec "$@"', str(file), *serve],
                env=environment(),
            )
        )
        for file in known
    ]
    return asyncio.run(
        soak(places, tools, lambda: [int(each.read_text()) for each in known], options)
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--transport", choices=("http", "stdio"), default="http")
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--calls", type=int, default=20_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        tools = Path(directory) / "tools"
        write_tools(tools, STABLE)
        write(tools, "edited", "Version -1.")
        is_well = (over_http if options.transport == "http" else over_stdio)(tools, options)
    sys.exit(not is_well)


if __name__ == "__main__":
    main()
