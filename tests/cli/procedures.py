"""Procedures for the tests of the commands, and tools for them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Write, manifest_of

WAITING = """
import threading


def rest(text: str) -> str:
    print("resting", flush=True)
    threading.Event().wait()
"""
FAILING = "def rest(text: str) -> str:\n    raise ValueError(text)\n"

GREETINGS = """\
name: greetings
description: Greets several people.
inputs:
  type: object
  properties:
    names: {type: array, items: {type: string}}
    mark: {type: string, default: "!"}
  required: [names]
steps:
  - action: for_each
    items: "{{ inputs.names }}"
    as: name
    steps:
      - {action: tool, tool: echo, arguments: {text: "{{ name }}{{ inputs.mark }}"}, save_as: said}
    result: "{{ said }}"
    save_as: greetings
output: "{{ greetings }}"
"""
TWO_STEPS = """\
name: two_steps
description: Says something, then rests.
steps:
  - {action: tool, tool: echo, arguments: {text: first}, save_as: said}
  - {action: tool, tool: rest, arguments: {text: "{{ said }}"}, save_as: rested}
output: ["{{ said }}", "{{ rested }}"]
"""

Put = Callable[..., Path]


@pytest.fixture
def put(tmp_path: Path, write: Write) -> Put:
    """Write a file, with the tools ``echo`` and ``rest`` next to it: ``put("a.yaml", text)``."""
    write("echo")
    write("rest", manifest_of("rest", annotations={"idempotent": True}))

    def file(name: str, text: str) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    return file
