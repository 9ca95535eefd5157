"""What a function with an odd annotation says, what its text says, and what calls make of JSON."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from sovl_tools.annotations.bindings import bindings
from sovl_tools.annotations.conversion import converter_of
from sovl_tools.annotations.jsonvalues import to_json
from sovl_tools.annotations.kind import ConversionError
from sovl_tools.loading.pipeline import load_folder
from sovl_tools.loading.sources import tool_folder
from sovl_tools.model.folder import Settings
from sovl_tools.signature.inference import Inference, implied
from sovl_tools.signature.signature import from_function
from sovl_tools.signature.syntax_tree import from_name
from tests.schema.validators import validator
from tests.tables import check_each

REFUSED = "refused"


class Odd(NamedTuple):
    """A parameter's annotation, what stands above it, and expressions for what JSON becomes."""

    annotation: str
    above: str = ""
    values: dict[str, str] = {}  # noqa: RUF012 - nobody changes it


ODD = [
    Odd("tuple[int, ...]", values={"[]": "()", "[1, 2]": "(1, 2)"}),
    Odd("type[int]"),
    Odd("object", values={"null": "None", "[1]": "[1]"}),
    Odd("None", values={"null": "None"}),
    Odd("bytes", values={'"a"': "b'a'"}),
    Odd("'int | str'", values={"1": "1", '"a"': "'a'"}),
    Odd("'Optional[\"list[int]\"]'", "from typing import Optional", {"[1]": "[1]"}),
    Odd("list['Later']", values={'[{"a": 1}]': "[Later(1)]", '[{"b": 1}]': REFUSED}),
    *map(Odd, ["'not a valid ('", "'1 +'", "''", "'lambda: 3'", "'Nowhere'", "'1 / 0'"]),
    # of typing
    Odd("Any", "from typing import Any", {"null": "None"}),
    Odd("Final[int]", "from typing import Final", {"1": "1"}),
    Odd("Callable[[int], str]", "from collections.abc import Callable"),
    Odd("B", "from typing import NewType\nA = NewType('A', int)\nB = NewType('B', A)", {"1": "1"}),
    Odd("T", "from typing import TypeVar\nT = TypeVar('T')", {"[1]": "[1]"}),
    Odd("T", "from typing import TypeVar\nT = TypeVar('T', int, str)", {"1": "1", '"a"': "'a'"}),
    # of collections and other modules of the standard library
    Odd("Mapping[int, float]", "from collections.abc import Mapping", {'{"1": 2.5}': "{1: 2.5}"}),
    Odd(
        "Decimal | None",
        "from decimal import Decimal",
        {"0.1": "Decimal('0.1')", '"1.50"': "Decimal('1.50')", '"NaN"': REFUSED},
    ),
    Odd(
        "datetime",
        "from datetime import *",
        {
            '"2026-01-31T12:00:00"': "datetime(2026, 1, 31, 12)",
            '"2026-01-31t12:00:00z"': "datetime(2026, 1, 31, 12, tzinfo=UTC)",
            '"2026-01-31"': "datetime(2026, 1, 31)",
        },
    ),
    Odd(
        "timedelta",
        "from datetime import timedelta",
        {
            "9999999999999": "timedelta(seconds=9999999999999)",
            "1e300": REFUSED,
            '"-P1D"': "timedelta(-1)",
            '"P99999999999D"': REFUSED,
        },
    ),
    # enums
    # classes
    Odd(
        "A[int]",
        "from dataclasses import *\nfrom typing import *\nX = TypeVar('X')\n@dataclass\n"
        "class A(Generic[X]):\n    a: X\n    b: 'tuple[X]'",
        {'{"a": 1, "b": [2]}': "A(1, (2,))", '{"a": 1, "b": ["x"]}': REFUSED},
    ),
    Odd(
        "set[A]",
        "from dataclasses import *\n@dataclass(frozen=True)\nclass A:\n    a: int",
        {'[{"a": 1}]': "{A(1)}"},
    ),
    Odd("A", "class M(type):\n    __eq__ = __hash__ = None\nclass A(metaclass=M): ..."),
    Odd("A", "class A(dict[str, int]): ..."),
    Odd(
        "A",
        "from typing import NamedTuple\nclass A(NamedTuple):\n    a: int\n    b: 'list[A]' = []",
        {'{"a": 1, "b": [{"a": 2}]}': "A(1, [A(2)])"},
    ),
    # pydantic
    Odd(
        "A",
        "from pydantic import *\nclass A(BaseModel):\n    a: int = Field(alias='b')\n"
        "    @field_validator('a')\n    @classmethod\n    def check(cls, value):\n"
        "        if value < 0:\n            raise ValueError('is negative')\n        return value",
        {'{"b": 1}': "A(b=1)", '{"b": -1}': REFUSED, '{"a": 1}': REFUSED},
    ),
    Odd(
        "A[int]",
        "from typing import *\nfrom pydantic import *\nX = TypeVar('X')\n"
        "class A(BaseModel, Generic[X]):\n    a: X",
        {'{"a": 1}': "A[int](a=1)", '{"a": "x"}': REFUSED},
    ),
    Odd("A", "from pydantic import *\nclass A(BaseModel):\n    a: 'Nowhere'"),
    Odd("HttpUrl", "from pydantic import *", {'"http://a.b/"': "HttpUrl('http://a.b/')"}),
    # contexts
    Odd("Optional[C]", "from typing import *\nfrom sovl_tools import ToolContext as C"),
]  # fmt: skip
if sys.version_info >= (3, 12):
    ODD += [
        Odd("A", "type A = int | list[A]", {"[1, [2]]": "[1, [2]]"}),
        Odd("A[int]", "type A[X] = tuple[X, X]", {"[1, 2]": "(1, 2)"}),
        Odd("A[int]", "class A[X]: ..."),
    ]

DECORATOR = """
import functools
def passing(function):
    @functools.wraps(function)
    def inner(*args, **kwargs):
        return function(*args, **kwargs)
    return inner
"""
LATER = "\nfrom dataclasses import dataclass as record\n@record\nclass Later:\n    a: int\n"
STYLES = {
    "plain": "{above}\ndef {name}(value: {annotation}): return value\n{later}",
    "text": "from __future__ import annotations\n"
    "{above}\ndef {name}(value: {annotation}): return value\n{later}",
    "decorated": "from __future__ import annotations\n"
    "{above}\n{decorator}\n@passing\ndef {name}(value: {annotation}): return value\n{later}",
    "default": "{above}\ndef {name}(value: {annotation} = None): return value\n{later}",
}


def source_of(odd: Odd, style: str, name: str) -> str:
    return STYLES[style].format(
        above=odd.above, annotation=odd.annotation, name=name, decorator=DECORATOR, later=LATER
    )


@contextmanager
def ran(source: str, name: str) -> Iterator[dict[str, Any] | None]:
    """Run a module; None if a library is not there, or an annotation that isn't text raises."""
    module = sys.modules[name] = ModuleType(name)
    try:
        try:
            exec(compile(source, name, "exec", dont_inherit=True), vars(module))
        except (ImportError, NameError, TypeError):
            yield None
        else:
            yield vars(module)
    finally:
        del sys.modules[name]


def table() -> Iterator[tuple[Odd, str]]:
    for odd in ODD:
        libraries = re.findall(r"^(?:from|import) (\w+)", odd.above, re.MULTILINE)
        if all(find_spec(each) for each in libraries):
            for style in STYLES:
                yield odd, style


def inferred(source: str, function: Any) -> Inference:
    """Return what a function says, after a check whether its text says the same or nothing."""
    own, parsed = from_function(function), from_name("odd", bindings(source.encode()))
    assert parsed is not None
    said, read = implied(own, function), implied(parsed)
    assert len(own.parameters) == len(parsed.parameters)
    for ours, theirs in zip(own.parameters, parsed.parameters, strict=True):
        assert theirs.annotation.optional in (ours.annotation.optional, None)
        assert theirs.annotation.is_context in (ours.annotation.is_context, None)
    for name, schema in read.parameters["properties"].items():
        other = said.parameters["properties"].get(name, {})
        assert schema.get("type", other.get("type")) == other.get("type")
    return said


@check_each("odd, style", table())
def test_an_odd_annotation_is_understood_or_unknown(odd: Odd, style: str) -> None:
    source = source_of(odd, style, "odd")
    with ran(source, "odd_module") as names:
        if names is None:
            return
        function = names["odd"]
        schema = validator(inferred(source, function).parameters)
        convert = converter_of(function, ["value"])
        for text, expression in odd.values.items():
            given = {"value": json.loads(text)}
            is_valid = given["value"] is None or schema.is_valid(given)
            try:
                made = convert(given)["value"] if convert else given["value"]
            except ConversionError:
                assert expression == REFUSED, text
                continue
            assert is_valid is (expression != REFUSED), text
            if not is_valid:
                continue
            wanted = eval(expression, names)
            assert (made, type(made)) == (wanted, type(wanted))
            to_json(made)


def test_a_tool_of_an_odd_annotation_is_valid_imported_or_not(tmp_path: Path) -> None:
    for index, (odd, style) in enumerate(table()):
        if style not in {"text", "default"}:
            continue
        name = f"odd{index}"
        source = source_of(odd, style, name)
        with ran(source, name) as names:
            if names is None:
                continue
            found = implied(from_function(names[name]), names[name])
        manifest = {"name": name, "description": "Does odd things.", "parameters": found.parameters}
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}.json").write_text(json.dumps(manifest))
        (tmp_path / name / f"{name}.py").write_text(source)
        folder = tool_folder(str(tmp_path / name), str(tmp_path / name))
        assert folder is not None
        said = []
        for imports in (True, False):
            candidate = load_folder(folder, Settings(imports=imports))
            assert candidate.status == "loaded", candidate.diagnostics
            said.append({(each.code, each.message) for each in candidate.diagnostics})
        assert said[1] <= said[0]
