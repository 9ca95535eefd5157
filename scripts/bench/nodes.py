"""What a schema node costs at a load: by the kind of property, and per node of its schema.

Tools of 2 and of 22 properties of one kind are loaded, free of findings, and json + import of the
same files is taken off; what the twenty properties add is divided by their nodes. A definition is
there once in either, so that it adds nothing.

    python scripts/bench/nodes.py [N [ROUNDS]]
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from load import FLOOR, LOADED
from processes import said
from shapes import make_folders, tool_of

FEW, MANY = 2, 22
MOST = 2.0
"""Target: by this much the cost of a node varies at most."""

_NUMBER: dict[str, Any] = {"type": "integer", "description": "A number."}
_TEXT: dict[str, Any] = {"type": "string", "description": "A text."}
_MEMBERS: dict[str, Any] = {"properties": {"x": _NUMBER, "y": _NUMBER}, "required": ["x", "y"]}
KINDS: dict[str, tuple[int, dict[str, Any]]] = {
    "plain": (1, _NUMBER),
    "bounded": (1, {**_NUMBER, "minimum": 0, "maximum": 9}),
    "enum": (1, {**_TEXT, "enum": ["slow", "fast"]}),
    "const": (1, {"const": "fast", "description": "Always the same."}),
    "$ref": (1, {"$ref": "#/$defs/place"}),
    "array": (2, {"type": "array", "items": {"type": "string"}, "description": "Some texts."}),
    "map": (2, {"type": "object", "additionalProperties": _TEXT, "description": "By name."}),
    "anyOf with null": (
        3,
        {"anyOf": [{"type": "integer"}, {"type": "null"}], "description": "A number, or none."},
    ),
    "object": (3, {"type": "object", "description": "A point.", **_MEMBERS}),
}
"""How many nodes a property of each kind has, and its schema."""


def added(root: Path, schema: dict[str, Any], properties: int, count: int, rounds: int) -> float:
    """Return what a load of tools of so many properties takes above the floor, in seconds."""
    make = tool_of({f"value{index}": schema for index in range(properties)})
    for part in ("floor", "loaded"):
        make_folders(root / f"{part}{properties}", make, count)
    floors, loads = [], []
    for _ in range(rounds + 1):  # the first writes .pyc files
        floors.append(said(FLOOR, str(root / f"floor{properties}")))
        loads.append(said(LOADED, str(root / f"loaded{properties}"), "load"))
    return min(loads[1:]) - min(floors[1:])


def main(count: int = 300, rounds: int = 8) -> None:
    """Measure each kind."""
    print(f"{count} tools, least of {rounds} rounds: us a property, a node")
    costs = []
    for kind, (nodes, schema) in KINDS.items():
        with tempfile.TemporaryDirectory() as folder:
            few, many = (added(Path(folder), schema, each, count, rounds) for each in (FEW, MANY))
        each = (many - few) / count / (MANY - FEW) * 1e6
        costs.append(each / nodes)
        print(f"{kind:18}{each:8.1f}{each / nodes:8.1f}", flush=True)
    ratio = max(costs) / min(costs)
    print(f"most / least {ratio:.1f} of {MOST} {'met' if ratio <= MOST else 'MISSED'}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
