"""The longest silence of a server, and its memory, while it rejects large bodies."""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

from measuring import ENVIRONMENT

from sovl_tools.serving.limits import MAX_CONTAINERS

LENGTH = 4 * 2**20 - 100
"""The length of the bodies."""
MOST_SILENCE = 0.5
"""Seconds."""
MOST_MEMORY = 100
"""MiB."""

INTEGER = {"type": "integer"}
NUMBERS = {
    "anyOf": [
        {"type": "array", "items": {"anyOf": [INTEGER, {"type": "null"}]}},
        {"type": "null"},
    ]
}
ANYTHING = {
    "anyOf": [
        {"type": "string"},
        {"type": "array", "items": {"$ref": "#/$defs/any"}},
        {"type": "object", "additionalProperties": {"$ref": "#/$defs/any"}},
    ]
}
CLOSED = {
    "type": "object",
    "properties": {f"name{number}": INTEGER for number in range(200)},
    "additionalProperties": False,
}
KINDS = {
    "anyOf": [
        {
            "type": "object",
            "properties": {"kind": {"const": f"k{number}"}, "x": INTEGER},
            "required": ["kind", "x"],
        }
        for number in range(100)
    ]
}


def array(item: str) -> str:
    """Return a long array of one item, with as many arrays and objects as a request can have."""
    count = LENGTH // (len(item) + 1)
    if item[0] not in "[{":
        return f"[{','.join([item] * count)}]"
    most = min(count, MAX_CONTAINERS - 10)
    longer = item + " " * (LENGTH // most - len(item) - 1)
    return f"[{','.join([longer] * most)}]"


def fields(name: str, value: str, most: int = LENGTH) -> str:
    count = min(most, LENGTH // (len(name) + len(value) + 10))
    pairs = [f'"{name}{number}":{value}' for number in range(count)]
    return f"{{{','.join(pairs)}}}"


BODIES: dict[str, tuple[dict[str, Any], str]] = {
    "strings for numbers": (NUMBERS, array('"x"')),
    "the last is wrong": (NUMBERS, f'[{"1," * (LENGTH // 2 - 2)}"x"]'),
    "arrays for numbers": (NUMBERS, array("[1,2,3,4,5,6,7,8,9,0,1,2,3,4,5,6,7,8,9]")),
    "many alternatives": ({"items": KINDS}, array('{"kind":"k5","x":""}')),
    "recursive": ({"$ref": "#/$defs/any"}, array('["ab","cd","ef","gh","ij","kl",1]')),
    "recursive and deep": (
        {"$ref": "#/$defs/any"},
        f"{'[' * 60}{'1,' * (LENGTH // 2 - 99)}1{']' * 60}",
    ),
    "unknown names": (CLOSED, fields("nome", "0")),
    "unknown names in items": ({"items": CLOSED}, array('{"nome1":0,"nome2":0}')),
    "an unlisted value": ({"enum": [f"name{n}" for n in range(2_000)]}, f'"{"a" * LENGTH}"'),
    "values of any name": (
        {"additionalProperties": NUMBERS},
        fields("a", '["x"]', MAX_CONTAINERS - 10),
    ),
}
"""The schema of the argument and its JSON text."""


def _write(root: Path) -> None:
    for number, (schema, _) in enumerate(BODIES.values()):
        name = f"worst{number}"
        (root / name).mkdir(parents=True)
        parameters = {
            "type": "object",
            "properties": {"v": schema},
            "required": ["v"],
            "$defs": {"any": ANYTHING},
        }
        manifest = {"name": name, "description": "Take a value.", "parameters": parameters}
        (root / name / f"{name}.json").write_text(json.dumps(manifest), encoding="utf-8")
        code = f"def {name}(v):\n    return None\n"
        (root / name / f"{name}.py").write_text(code, encoding="utf-8")


def _post(port: int, path: str, body: str) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=600)
    headers = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
    }
    connection.request("POST", path, body, headers)
    response = connection.getresponse()
    return response.status, response.read()


class _Probe(threading.Thread):
    """Requests /healthz without a pause; ``longest`` is the time of the slowest answer."""

    def __init__(self, port: int) -> None:
        super().__init__(daemon=True)
        self.longest = 0.0
        self.is_ended = False
        self._port = port

    def run(self) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=600)
        while not self.is_ended:
            begun = time.perf_counter()
            connection.request("GET", "/healthz")
            connection.getresponse().read()
            self.longest = max(self.longest, time.perf_counter() - begun)
            time.sleep(0.002)


def _memory(pid: int, field: str) -> float:
    lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines()
    return next(int(each.split()[1]) for each in lines if each.startswith(field)) / 1024


SERVER = """
import socket, sys
import uvicorn
from sovl_tools import ToolRegistry
app = ToolRegistry.from_directory(sys.argv[1]).mcp_server().app(stateless=True, json_response=True)
listening = socket.create_server(("127.0.0.1", int(sys.argv[2])))
print("listening", flush=True)
uvicorn.Server(uvicorn.Config(app, log_level="error")).run([listening])
"""


def measure(root: Path, port: int) -> None:
    """Print the longest silence and the most memory for each body, by the JSON API and by MCP."""
    _write(root)
    command = [sys.executable, "-c", SERVER, str(root), str(port)]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=ENVIRONMENT, text=True
    )
    try:
        assert process.stdout is not None
        process.stdout.readline()  # it listens
        for number in range(len(BODIES)):  # what a call needs is loaded
            _post(port, f"/tools/worst{number}", "{}")
        base = _memory(process.pid, "VmRSS")
        for number, (words, (_, text)) in enumerate(BODIES.items()):
            name, body = f"worst{number}", f'{{"v":{text}}}'
            call = f'"params":{{"name":"{name}","arguments":{body}}}'
            message = f'{{"jsonrpc":"2.0","id":1,"method":"tools/call",{call}}}'
            for path, sent in ((f"/tools/{name}", body), ("/mcp", message)):
                before = _memory(process.pid, "VmRSS")
                # VmHWM counts from here
                Path(f"/proc/{process.pid}/clear_refs").write_text("5", encoding="ascii")
                probe = _Probe(port)
                probe.start()
                begun = time.perf_counter()
                status, answer = _post(port, path, sent)
                took = time.perf_counter() - begun
                probe.is_ended = True
                probe.join()
                assert status == 422 or b"invalid arguments" in answer, answer[:200]
                most = _memory(process.pid, "VmHWM") - before
                is_over = probe.longest > MOST_SILENCE or most > MOST_MEMORY
                print(
                    f"{path[:6]} {words:24} silent for {probe.longest:5.2f} s, took {took:5.2f} s,"
                    f" {most:4.0f} MiB more{'  OVER' if is_over else ''}",
                    flush=True,
                )
        print(f"after all of them {_memory(process.pid, 'VmRSS') - base:.0f} MiB more")
    finally:
        process.kill()
        process.wait()
