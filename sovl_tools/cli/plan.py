"""The plan of a run: what a procedure would do, as a tree."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from sovl_tools.model.document import JSON
from sovl_tools.procedures.model import Procedure
from sovl_tools.procedures.outline import Outline, bare, outlined, shortened


def plan(procedure: Procedure) -> str:
    """Return the name, the inputs, the steps and the output of a procedure, a line each."""
    lines = [f"{procedure.name}: {shortened(procedure.description, 90)}"]
    inputs = ", ".join(_inputs(procedure))
    if inputs:
        lines.append(f"inputs: {inputs}")
    lines += _tree(outlined(procedure))
    if procedure.output is not None:
        lines.append(f"output: {bare(procedure.output)}")
    return "\n".join(lines)


def _inputs(procedure: Procedure) -> Iterator[str]:
    required: Sequence[str] = procedure.inputs.get("required", ())
    properties: dict[str, JSON] = procedure.inputs.get("properties", {})
    for name, schema in properties.items():
        kind = schema.get("type", "any") if isinstance(schema, dict) else "any"
        words = kind if isinstance(kind, str) else " or ".join(kind)
        if isinstance(schema, dict) and "default" in schema:
            words += f", default {shortened(json.dumps(schema['default'], ensure_ascii=False))}"
        elif name not in required:
            words += ", optional"
        yield f"{name} ({words})"


def _tree(steps: Sequence[Outline]) -> Iterator[str]:
    for number, step in enumerate(steps):
        is_last = number == len(steps) - 1
        notes = f"  ({'; '.join(step.notes)})" if step.notes else ""
        yield f"{'└' if is_last else '├'} {step.title}{notes}"
        for line in _blocks(step):
            yield f"{' ' if is_last else '│'} {line}"


def _blocks(step: Outline) -> Iterator[str]:
    for number, block in enumerate(step.blocks):
        if not block.caption:
            yield from _tree(block.steps)
            continue
        is_last = number == len(step.blocks) - 1
        yield f"{'└' if is_last else '├'} {block.caption}:"
        for line in _tree(block.steps):
            yield f"{' ' if is_last else '│'} {line}"
