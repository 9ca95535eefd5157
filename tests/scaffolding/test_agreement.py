"""``validate`` and ``sync`` find the same contradictions, since both make the same comparison."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hypothesis import event, given, settings
from hypothesis import strategies as st

from sovl_tools import Diagnostic
from sovl_tools.loading.pipeline import load_folder
from sovl_tools.loading.sources import discover
from sovl_tools.model.folder import Settings
from sovl_tools.scaffolding.sync import plan_sync
from tests.conftest import Run, Write, manifest_of
from tests.schema.strategies import examples, moderate

HEAD = """from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from enum import Enum
from typing import Any, Literal, Optional as Opt, TypedDict

Maybe = int | None


class Unit(Enum):
    METRE = "metre"
    FOOT = "foot"


@dataclass
class Place:
    city: str
    zone: int = 1


class Trip(TypedDict):
    start: Place
    stops: list[Place]


"""
ANNOTATIONS = (
    "", "str", "int", "float", "bool", "None", "list", "list[int]", "list[list[str]]",
    "dict[str, int]", "int | str", "int | list[int]", "Literal['a', 1]", "tuple[int, str]", "Any",
    "date", "Unit", "Place", "Place | None", "list[Place]", "Trip", "dict[str, Unit]", "Maybe",
    "Opt[str]", "list[Maybe]", "Unheard",
)  # fmt: skip
NAMES = ("alpha", "beta", "city", "zone", "start")
TYPES = ("string", "integer", "number", "boolean", "array", "object", "null")

contradictions = {
    "ST310", "ST312", "ST402", "ST403", "ST404", "ST405", "ST407", "ST408", "ST411", "ST412",
}  # fmt: skip
defaults = st.sampled_from(["None", "1", "'a'", "()", "Unit.FOOT"])
scalars = st.sampled_from([None, 1, "a", "metre", True])


def _within(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    keys = {
        "type": st.sampled_from(TYPES) | st.just(["integer", "null"]),
        "items": inner,
        "prefixItems": st.lists(inner, min_size=1, max_size=2),
        "properties": st.dictionaries(st.sampled_from(NAMES), inner, max_size=2),
        "required": st.lists(st.sampled_from(NAMES), max_size=1),
        "additionalProperties": inner,
        "anyOf": st.lists(inner, min_size=1, max_size=2),
        "enum": st.lists(scalars, min_size=1, max_size=2, unique_by=repr),
        "default": scalars,
        "$ref": st.just("#/$defs/Spot"),
    }
    return st.fixed_dictionaries({}, optional=keys)


schemas = st.recursive(
    st.sampled_from(TYPES).map(lambda name: {"type": name}), _within, max_leaves=4
)


@st.composite
def folders(draw: st.DrawFn) -> tuple[dict[str, Any], str]:
    """Return the manifest and the module of a tool, each written without a check the other."""
    taken = draw(st.lists(st.sampled_from(NAMES[:3]), unique=True, max_size=3))
    parts = []
    for name in taken:
        annotation = draw(st.sampled_from(ANNOTATIONS))
        default = f" = {draw(defaults)}" if draw(st.booleans()) else ""
        parts.append(f"{name}: {annotation}{default}" if annotation else f"{name}{default}")
    listed = ", ".join(["*", *parts] if parts else [])
    properties = draw(st.dictionaries(st.sampled_from(NAMES[:3]), schemas, max_size=3))
    required = [name for name in properties if draw(st.booleans())]
    parameters = {
        "type": "object", "properties": properties, "required": required,
        "$defs": {"Spot": draw(schemas)},
    }  # fmt: skip
    return manifest_of("echo", parameters=parameters), f"{HEAD}def echo({listed}): ...\n"


def told(found: Sequence[Diagnostic]) -> list[tuple[str, str]]:
    return sorted({(each.code, each.message) for each in found if each.code in contradictions})


def broken(found: Sequence[Diagnostic]) -> bool:
    """Return whether a manifest has errors of its own."""
    return any(each.severity == "error" and each.code[:3] != "ST4" for each in found)


@settings(moderate, max_examples=examples(150))
@given(folders())
def test_what_sync_refuses_is_what_validate_tells(made: tuple[dict[str, Any], str]) -> None:
    manifest, code = made
    with tempfile.TemporaryDirectory() as root:
        place = Path(root) / "echo"
        place.mkdir()
        (place / "echo.json").write_text(json.dumps(manifest))
        (place / "echo.py").write_text(code)
        [folder] = discover(root, root)
        synced = plan_sync(folder)
        first = load_folder(folder, Settings()).diagnostics
        before = {(each.code, each.message) for each in first}
        is_changed = synced.is_changed
        if is_changed:
            synced.save()
            synced = plan_sync(folder)
        loaded = load_folder(folder, Settings())
        # what a check of sync would fail at, validate tells, and nothing else that sync mends
        left = {(each.code, each.message) for each in loaded.diagnostics}
        event(f"changed: {is_changed}")
        assert not synced.is_changed
        if broken(first):  # the module was not even looked at
            assert before
        else:
            assert bool(before - left) == is_changed
        assert "ST413" not in {code for code, _ in left}
        if broken(loaded.diagnostics):
            event("rejected for other reasons")
            return
        said = told(loaded.diagnostics)
        event(f"contradicts: {bool(said)}")
        assert told(synced.diagnostics()) == said
        parsed = told(load_folder(folder, Settings(imports=False)).diagnostics)
        # without running the module nobody knows whether a name of it is of a type to convert
        known = {("ST412", message): ("ST408", message) for _, message in said}
        assert {known.get(each, each) for each in parsed} <= {
            known.get(each, each) for each in said
        }


DEEP = """from dataclasses import dataclass
from enum import Enum


class Unit(Enum):
    METRE = "m"


@dataclass
class Place:
    x: int


def echo(places: list[Place], unit: Unit, sizes: list[int], day: int | None = None): ...
"""


def test_a_contradiction_is_told_as_deep_as_it_lies(run: Run, write: Write) -> None:
    spot = {"type": "object", "properties": {"y": {"type": "integer"}}, "required": ["y"]}
    properties = {
        "places": {"type": "array", "items": {"$ref": "#/$defs/Spot"}},
        "unit": {"type": "string", "enum": ["m", "ft"]},
        "sizes": {"type": "array", "items": {"type": "string"}},
        "day": {"type": "number"},
    }
    parameters = {
        "type": "object", "properties": properties, "required": ["places", "unit", "sizes"],
        "$defs": {"Spot": spot},
    }  # fmt: skip
    write("echo", manifest_of("echo", parameters=parameters), DEEP)
    done = run("validate", "--select", "ST408,ST412", "--format", "json")
    messages = [each["message"] for each in json.loads(done.out)["diagnostics"]]
    assert sorted(messages) == [
        "\"ft\" isn't a value that the function takes for 'unit'",
        "'day' is 'number' in the manifest, but the function takes 'integer'",
        "'places[].y' is not taken by the function",
        "'sizes[]' is 'string' in the manifest, but the function takes 'integer'",
        "the function needs 'places[].x', which the manifest lacks",
    ]
