"""What starting costs: CPU time of fresh processes as ratios, the least of alternating rounds.

python scripts/bench/cli.py [ROUNDS]
"""

from __future__ import annotations

import sys
from pathlib import Path

from processes import cpu

SCRIPT = str(Path(sys.executable).parent / "sovl-tools")
PYTHON = sys.executable
ENGINE = "import jsonschema_rs, dataclasses, json, importlib.util"
COMMANDS = {
    "bare": (PYTHON, "-c", "pass"),
    "help": (SCRIPT, "--help"),
    "import": (PYTHON, "-c", "import sovl_tools"),
    "engine": (PYTHON, "-c", ENGINE),
    "names": (PYTHON, "-c", "from sovl_tools import ToolRegistry, Tooler"),
}


def main() -> None:
    """Measure the three promises."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 30
    least = dict.fromkeys(COMMANDS, float("inf"))
    for _ in range(rounds):
        for name, command in COMMANDS.items():
            least[name] = min(least[name], cpu(*command))
    bare, engine = least["bare"], least["engine"]
    print(f"starting, CPU time, least of {rounds} rounds; python -c pass {bare * 1e3:.1f} ms")
    print(f"sovl-tools --help                {least['help'] / bare:.2f} x bare (target 5)")
    added = (least["import"] - bare) / bare
    print(f"import sovl_tools adds           {added:.2f} x bare (target 0.7)")
    ratio = (least["names"] - bare) / (engine - bare)
    whole = least["names"] / engine
    print(
        f"ToolRegistry, Tooler             {whole:.2f} x {ENGINE} (target 4); "
        f"without the interpreter's own start {ratio:.2f}"
    )


if __name__ == "__main__":
    main()
