from __future__ import annotations

import subprocess
import sys

import pytest

from sovl_tools.schema.engine import engine_name

WITHOUT = """
import sys
for library in sys.argv[1:]:
    sys.modules[library] = None
from sovl_tools.schema.engine import compile_schema, engine_name
try:
    print(engine_name(), compile_schema({"type": "integer"}).is_valid("x"))
except ImportError as error:
    print(error)
"""


def test_the_native_engine_does_the_work_where_it_is_installed() -> None:
    assert engine_name() == "jsonschema-rs"


@pytest.mark.parametrize(
    ("absent", "said"),
    [
        (["jsonschema_rs"], "jsonschema False"),
        (["jsonschema"], "jsonschema-rs False"),
        (["jsonschema_rs", "jsonschema"], "sovl-tools needs jsonschema-rs or jsonschema"),
    ],
)
def test_an_engine_that_is_absent_is_stood_in_for(absent: list[str], said: str) -> None:
    command = [sys.executable, "-c", WITHOUT, *absent]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == said
