"""What ``validate`` costs, next to check-jsonschema, and what its child process costs.

The tools are copies of those that are shipped. check-jsonschema checks the same manifests against
the published schema in the same run, and nothing else: neither examples nor code.

python scripts/bench/validate.py [N [ROUNDS]]
"""

from __future__ import annotations

import json
import re
import shutil
import sys
import tempfile
import time
from pathlib import Path

from folders import make_folders
from processes import cpu, said

TARGET = 2.2
PARSED_TARGET = 1.5  # times the CPU time of check-jsonschema
SHIPPED = Path(__file__).parents[2] / "tools"
SCHEMA = SHIPPED.parent / "schemas" / "tool.schema.json"
BIN = Path(sys.executable).parent
START = """
import resource, sys
from sovl_tools import ToolRegistry
from sovl_tools.loading.isolation import loaded_in_child
from sovl_tools.loading.sources import collect
from sovl_tools.model.folder import Settings
"""
END = """
used = [resource.getrusage(each) for each in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
print(sum(each.ru_utime + each.ru_stime for each in used))
"""
IN_PROCESS = f"""{START}
ToolRegistry.from_directory(sys.argv[1])
{END}"""
WITH_REPORT = f"""{START}
len(ToolRegistry.from_directory(sys.argv[1]).report.diagnostics)
{END}"""
IN_CHILD = f"""{START}
list(loaded_in_child(collect([sys.argv[1]]).folders, Settings()))
{END}"""


def copy_shipped(root: Path, count: int) -> None:
    """Write copies of the shipped tools; names, descriptions, phrases and actions differ."""
    shipped = sorted(each for each in SHIPPED.iterdir() if (each / f"{each.name}.json").exists())
    for index in range(count):
        source = shipped[index % len(shipped)]
        name = f"{source.name}_{index}"
        folder = root / name
        shutil.copytree(source, folder, ignore=shutil.ignore_patterns("__pycache__"))
        manifest = json.loads((folder / f"{source.name}.json").read_text(encoding="utf-8"))
        manifest["name"] = name
        manifest["description"] += f" This is {name}."
        phrases = manifest.get("activation_phrases", ())
        manifest["activation_phrases"] = [f"{each} {name}" for each in phrases]
        (folder / f"{source.name}.json").unlink()
        (folder / f"{name}.json").write_text(json.dumps(manifest, indent=2), encoding="utf-8")
        module = folder / f"{source.name}.py"
        code = re.sub(rf"\b{source.name}\b", name, module.read_text(encoding="utf-8"))
        code = code.replace('STEP_HANDLERS = {"', f'STEP_HANDLERS = {{"{name}_')
        # those in a module would be shared by all its copies
        code = re.sub(r"ACTIVATION_PHRASES = .*?[\])]\n", "", code, flags=re.DOTALL)
        module.unlink()
        (folder / f"{name}.py").write_text(code, encoding="utf-8")


def measured(*command: str, cwd: Path) -> tuple[float, float]:
    """Run a command; return its CPU time, and the wall time until it ends, in seconds."""
    started = time.perf_counter()
    return cpu(*command, cwd=cwd), time.perf_counter() - started


def best(rounds: int, *command: str, cwd: Path) -> tuple[float, float]:
    """Return the least CPU time and the least wall time of some runs."""
    times = [measured(*command, cwd=cwd) for _ in range(rounds)]
    return min(each[0] for each in times), min(each[1] for each in times)


def compare(count: int, rounds: int) -> None:
    """Measure the command as it is in CI, and check-jsonschema on the same manifests."""
    with tempfile.TemporaryDirectory() as place:
        root = Path(place)
        (root / "pyproject.toml").touch()
        copy_shipped(root / "tools", count)
        manifests = [str(each / f"{each.name}.json") for each in (root / "tools").iterdir()]
        validate = (str(BIN / "sovl-tools"), "validate")
        other = best(
            rounds,
            *(str(BIN / "check-jsonschema"), "--schemafile", str(SCHEMA), *manifests),
            cwd=root,
        )
        floor = best(rounds, str(BIN / "sovl-tools"), "--version", cwd=root)
        parsed = best(rounds, *validate, "--no-import", cwd=root)
        imported = best(rounds, *validate, cwd=root)
    print(
        f"{count} copies of the shipped tools, least of {rounds} rounds: CPU s, wall s, CPU ratio"
    )
    rows = {
        "check-jsonschema": other,
        "sovl-tools --version": floor,
        "validate --no-import": parsed,
        "validate": imported,
    }
    for name, (processor, wall) in rows.items():
        print(f"  {name:28}{processor:8.2f}{wall:8.2f}{processor / other[0]:8.2f}")
    ratio = parsed[0] / other[0]
    outcome = "met" if ratio <= PARSED_TARGET else "missed"
    print(f"  --no-import: {ratio:.2f} x check-jsonschema, target {PARSED_TARGET}: {outcome}")


def main() -> None:
    """Measure copies of the shipped tools, and rich tools."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 12
    compare(count, min(rounds, 5))
    with tempfile.TemporaryDirectory() as folder:
        make_folders(Path(folder), "rich", count)
        codes = {"loading": IN_PROCESS, "and the report": WITH_REPORT, "in a child": IN_CHILD}
        times = {
            name: [said(code, folder) for _ in range(rounds + 1)] for name, code in codes.items()
        }
    least = {name: min(each[1:]) for name, each in times.items()}
    alone, reported, contained = least.values()
    listed = ", ".join(f"{name} {each * 1e3:.0f} ms" for name, each in least.items())
    outcome = "met" if contained <= TARGET * alone else "missed"
    print(
        f"{count} rich tools, CPU time, least of {rounds} rounds: {listed}; the child to loading "
        f"{contained / alone:.2f} (target {TARGET}: {outcome}), "
        f"to loading and the report, which the child makes as well, {contained / reported:.2f}"
    )


if __name__ == "__main__":
    main()
