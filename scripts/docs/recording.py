"""Writes the recording of a terminal in the README: what real commands print, as an SVG.

python scripts/docs/recording.py
"""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.text import Text

TARGET = Path(__file__).parents[2] / "docs" / "assets" / "terminal.svg"
FUNCTION = '''def to_dollars(euros: float) -> float:
    """Convert euros to dollars.

    Args:
        euros: The amount, such as 19.90.
    """
    return round(euros * 1.1, 2)
'''
TOOL = "tools/to_dollars/to_dollars"
COMMANDS = [
    f"cat {TOOL}.py",
    f"sovl-tools sync > /dev/null; ls {TOOL}.*",
    "sovl-tools call to_dollars euros=20",
    "sovl-tools call to_dollars euro=20",
    f"sed -i 's/euros: float/euro: float/' {TOOL}.py",
    "sovl-tools validate",
]


def main() -> None:
    """Run the commands in an empty folder and draw them."""
    console = Console(record=True, width=88, file=io.StringIO(), force_terminal=True)
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {
        **os.environ,
        "PATH": path,
        "COLUMNS": "88",
        "FORCE_COLOR": "1",
        "TERM": "xterm-256color",
    }
    with tempfile.TemporaryDirectory() as folder:
        module = Path(folder) / f"{TOOL}.py"
        module.parent.mkdir(parents=True)
        module.write_text(FUNCTION, encoding="utf-8")
        for command in COMMANDS:
            console.print(Text.assemble(("$ ", "bold green"), command))
            done = subprocess.run(
                command, shell=True, cwd=folder, env=environment, text=True,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
            )  # fmt: skip
            if done.stdout:
                console.print(Text.from_ansi(done.stdout.rstrip("\n")))
    drawn = console.export_svg(title="sovl-tools")
    # rich asks another host for a font
    drawn = re.sub(r"@font-face \{.*?\}", "", drawn, flags=re.DOTALL)
    TARGET.parent.mkdir(exist_ok=True)
    TARGET.write_text(drawn.replace("Fira Code", "ui-monospace"), encoding="utf-8")


if __name__ == "__main__":
    main()
