"""The examples of a manifest, held against its own parameters."""

from __future__ import annotations

import json
from collections.abc import Iterator

from sovl_tools.loading.checks.schema import ExampleCase, refused_example
from sovl_tools.model.diagnostic import Verdict, ask
from sovl_tools.model.document import JSON
from sovl_tools.model.errors import SchemaError
from sovl_tools.model.folder import Manifest
from sovl_tools.schema.engine import compile_schema
from sovl_tools.schema.fit import surely_fits


def example_verdicts(manifest: Manifest) -> list[Verdict]:
    """Return what the parameters refuse in the inputs of the examples."""
    doubtful = [case for case in _cases(manifest) if not _surely(case, manifest)]
    if not doubtful:
        return []
    try:
        validator = compile_schema(manifest.parameters)
    except SchemaError:
        return []
    checked = [case._replace(problems=validator.problems(case.arguments)) for case in doubtful]
    return [verdict for case in checked for verdict in ask((refused_example,), case)]


def _surely(case: ExampleCase, manifest: Manifest) -> bool:
    return surely_fits(case.arguments, manifest.parameters)


def _cases(manifest: Manifest) -> Iterator[ExampleCase]:
    for index, example in enumerate(manifest.document.get("examples", ())):
        arguments = arguments_of(example)
        if arguments is not None:
            yield ExampleCase(("examples", index, "input"), arguments, [])


def arguments_of(example: dict[str, JSON]) -> dict[str, JSON] | None:
    """Return an example's arguments, or None if its input is text that is only shown."""
    given = example["input"]
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except (ValueError, RecursionError):
            return None
    return given if isinstance(given, dict) else None
