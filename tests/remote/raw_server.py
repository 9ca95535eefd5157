"""A server of the Model Context Protocol that says what FILE says: ``python raw_server.py FILE``.

FILE holds JSON: results by method, as they are sent; ``null`` never answers, and of a list each
request gets the next result. It is checked again for each request. A change of ``tools/list`` is
told after each ``tools/call``.
"""

import json
import sys

HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {"tools": {"listChanged": True}},
    "serverInfo": {"name": "raw", "version": "1"},
}


seen: dict[str, int] = {}


def send(message: object) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")  # type: ignore[dict-item]
    sys.stdout.flush()


def answer(request: dict[str, object]) -> None:
    if "id" not in request:
        return
    with open(sys.argv[1]) as file:
        results = {"initialize": HELLO, **json.load(file)}
    method = str(request["method"])
    if isinstance(results.get(method), list):
        seen[method] = seen.get(method, -1) + 1
        results[method] = results[method][seen[method] % len(results[method])]
    if method not in results:
        error = {"code": -32601, "message": f"there's no {method}"}
        send({"id": request["id"], "error": error})
    elif results[method] is not None:
        send({"id": request["id"], "result": results[method]})
    if method == "tools/call":
        send({"method": "notifications/tools/list_changed"})


for line in sys.stdin:
    answer(json.loads(line))
