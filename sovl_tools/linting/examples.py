"""The examples of manifests as tests, and the comparison of their outputs with results."""

from __future__ import annotations

import json
import math
import os
import shutil
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import chdir, contextmanager, suppress
from difflib import unified_diff
from itertools import islice, zip_longest
from tempfile import TemporaryDirectory
from typing import Literal, NamedTuple, TypeAlias

from sovl_tools.dispatch.tooler import Tooler
from sovl_tools.loading.jsontext import Places, line_and_column
from sovl_tools.loading.location import relative_path
from sovl_tools.loading.rules.folder import Unreadable
from sovl_tools.loading.sources import read_manifest
from sovl_tools.model.catalog import Candidate
from sovl_tools.model.diagnostic import ManifestPlace
from sovl_tools.model.document import JSON, Path, json_path, kind
from sovl_tools.model.folder import ToolFolder
from sovl_tools.model.result import ToolResult
from sovl_tools.model.suggestion import did_you_mean
from sovl_tools.reporting.text import cut, plain
from sovl_tools.schema.problem import shown

MATCHES = ("subset", "exact", "schema", "approx")
"""How an example's ``output_match`` may say that outputs are compared; the first is the default."""

TOLERANCE = 1e-6
"""The relative tolerance of numbers for ``approx``."""
_NEAR_ZERO = 1e-12
_MOST_LINES = 20
_WIDEST_LINE = 200
_SHORT, _CONTEXT = 50, 10
"""The length of strings that are shown whole; the length shown before a difference in others."""
_MISSING = object()


def differences(expected: JSON, actual: JSON, match: str = "subset") -> list[str]:
    """Return the differences of two values, with one or more lines for each place.

    Args:
        expected: the output in an example.
        actual: the result of a call.
        match: ``"subset"``: expected members must be there, also in nested objects; arrays and
            scalars must be equal. ``"approx"``: the same, but numbers can differ by a millionth.
            ``"exact"``: everything must be equal.
    """
    lines = _differences(expected, actual, (), match)
    found = [line for line, _ in zip(lines, range(_MOST_LINES + 1), strict=False)]
    return found if len(found) <= _MOST_LINES else [*found[:_MOST_LINES], "… and more"]


def _differences(expected: JSON, actual: JSON, path: Path, match: str) -> Iterator[str]:
    place = json_path(path)
    if actual is _MISSING:
        yield f"{place} is missing, expected {shown(expected)}"
    elif expected is _MISSING:
        yield f"{place} is {shown(actual)}, which is not expected"
    elif isinstance(expected, dict) and isinstance(actual, dict):
        others = () if match != "exact" else actual.keys() - expected.keys()
        for key in [*expected, *sorted(others)]:
            pair = expected.get(key, _MISSING), actual.get(key, _MISSING)
            yield from _differences(*pair, (*path, key), match)
    elif isinstance(expected, list) and isinstance(actual, list):
        # arrays must be equal as a whole, except for the last digits of numbers
        inner = "exact" if match == "subset" else match
        for index, pair in enumerate(zip_longest(expected, actual, fillvalue=_MISSING)):
            yield from _differences(*pair, (*path, index), inner)
    elif _equal(expected, actual, match):
        return
    elif isinstance(expected, str) and isinstance(actual, str):
        # strings with several lines have a diff; others start shortly before the difference
        if "\n" in expected or "\n" in actual:
            yield f"{place} is another text (- expected, + returned):"
            lines = unified_diff(expected.splitlines(), actual.splitlines(), n=1, lineterm="")
            yield from (f"  {cut(line, _WIDEST_LINE)}".rstrip() for line in islice(lines, 2, None))
        else:
            pairs = enumerate(zip(expected, actual, strict=False))
            same = next((at for at, (a, b) in pairs if a != b), min(len(expected), len(actual)))
            start = max(0, same - _CONTEXT) if max(len(expected), len(actual)) > _SHORT else 0
            where = f" from character {start + 1} on" if start else ""
            words = f"{shown(actual[start:])}, expected {shown(expected[start:])}"
            yield f"{place} is{where} {words}"
    else:
        yield f"{place} is {shown(actual)}, expected {shown(expected)}"


def _equal(expected: JSON, actual: JSON, match: str) -> bool:
    """Return whether two values are equal; 8.0 equals 8, but no number equals true."""
    numbers = [each for each in (expected, actual) if kind(each) in {"integer", "number"}]
    if match == "approx" and len(numbers) == len((expected, actual)):
        return math.isclose(expected, actual, rel_tol=TOLERANCE, abs_tol=_NEAR_ZERO)
    is_comparable = len(numbers) == len((expected, actual)) or kind(expected) == kind(actual)
    return is_comparable and bool(expected == actual)


LIMIT = 30.0
"""The default time limit for an example, in seconds."""
DATA = "examples"
"""The folder in a tool's folder whose files are copied to where its examples run."""
GROUPS = {"destructive": "destructive", "network": "open_world"}
"""The groups of tools that only run with ``--include``, with the annotation of each group."""

_WIDEST_INPUT = 500
_MOST_SECONDS = 86_400.0

Status: TypeAlias = Literal["passed", "failed", "skipped"]


class Example(NamedTuple):
    """An example of a manifest as a test; or a tool that can't be loaded, which fails as one.

    Attributes:
        folder: the tool's.
        number: which of the manifest's examples, from 0; None for a tool that can't be loaded.
        document: the example in the manifest.
        line: its line in the manifest, from 1.
        column: its column in that line, from 1.
        limit: its time limit, in seconds.
        skipped: why it is not run; "" if it is.
        problem: why it fails without being run.
        has_output_schema: whether the manifest has a schema for results.
    """

    folder: ToolFolder
    number: int | None
    document: Mapping[str, JSON] = {}
    line: int = 1
    column: int = 1
    limit: float = LIMIT
    skipped: str = ""
    problem: str = ""
    has_output_schema: bool = False

    @property
    def path(self) -> str:
        """The manifest, as the caller named it."""
        return f"{self.folder.path}/{self.folder.manifest_name}"

    @property
    def place(self) -> str:
        """Where it is: ``tools/weather/weather.json:12:5``."""
        return f"{self.path}:{self.line}:{self.column}"

    @property
    def name(self) -> str:
        """Its name in its manifest: ``example[0]``."""
        return "load" if self.number is None else f"example[{self.number}]"

    @property
    def id(self) -> str:
        """Its name among all: ``tools/weather/weather.json::example[0]``."""
        return f"{self.path}::{self.name}"

    @property
    def arguments(self) -> dict[str, JSON] | None:
        """The arguments of its call; None for an input that is only text to show."""
        given = self.document.get("input")
        if isinstance(given, str):
            with suppress(ValueError, RecursionError):
                given = json.loads(given)
        return given if isinstance(given, dict) else None


class Tested(NamedTuple):
    """The result of an example.

    Attributes:
        example: which.
        status: whether it passed.
        message: why it failed or was skipped; the first line says it all in short.
        duration: of the call, in seconds.
        printed: the end of the tool's output.
    """

    example: Example
    status: Status
    message: str = ""
    duration: float = 0.0
    printed: str = ""

    @property
    def first(self) -> str:
        """Why it failed or was skipped, in short."""
        return self.message.partition("\n")[0]

    @property
    def details(self) -> list[str]:
        """The other lines about a failure."""
        lines = [f"    {plain(each)}" for each in self.message.split("\n")[1:]]
        if "input" in self.example.document:
            given = json.dumps(self.example.document["input"], ensure_ascii=False)
            lines.append(f"  input: {plain(cut(given, _WIDEST_INPUT))}")
        return lines


def groups_of(texts: Iterable[str]) -> frozenset[str]:
    """Return the groups in strings such as ``destructive,network``.

    Raises:
        ValueError: a group is unknown.
    """
    names = {name.strip() for text in texts for name in text.split(",") if name.strip()}
    for name in sorted(names - GROUPS.keys()):
        hint = did_you_mean(name, GROUPS) or f"the groups are {', '.join(GROUPS)}"
        raise ValueError(f"there's no group {name!r}; {hint}")
    return frozenset(names)


def examples_of(
    candidate: Candidate, include: Collection[str] = (), limit: float | None = None
) -> list[Example]:
    """Return the examples of a tool's folder.

    Args:
        candidate: what became of the folder; parsing its module will do.
        include: the ``GROUPS`` to run.
        limit: the time limit for each, in seconds; None for the manifest's.
    """
    folder = ToolFolder(candidate.name, candidate.path, candidate.location)
    reading = None if candidate.status in {"rejected", "waiting"} else read_manifest(folder)
    if reading is None or isinstance(reading, Unreadable) or reading[0] is None:
        first = next(iter(candidate.reasons), "its manifest can't be read anymore")
        return [Example(folder, None, problem=f"the tool can't be loaded: {first}")]
    manifest = reading[0]
    document = manifest.document
    places = Places(manifest.text)
    own = min(document.get("execution", {}).get("timeout", LIMIT), _MOST_SECONDS)
    annotations = document.get("annotations", {})
    left_out = (
        f"the tool is {annotation}; --include {group} runs it"
        for group, annotation in GROUPS.items()
        if annotations.get(annotation) and group not in include
    )
    reason = next(left_out, "")
    if candidate.status != "loaded":
        reason = f"the tool is {candidate.status}: {'; '.join(candidate.reasons)}"
    found = []
    for index, each in enumerate(document.get("examples", ())):
        line, column = line_and_column(
            manifest.text, places.offset(ManifestPlace(("examples", index)))
        )
        has_schema = "output_schema" in document
        example = Example(folder, index, each, line, column, limit or own, reason, "", has_schema)
        if example.arguments is None and not reason:
            example = example._replace(skipped="its input is text that is only shown")
        found.append(example)
    return found


@contextmanager
def working_directory(folder: ToolFolder) -> Iterator[str]:
    """Make a directory for an example to run in, with copies of the files that it needs.

    Raises:
        OSError: they can't be copied.
    """
    with TemporaryDirectory(prefix="sovl-tools-", ignore_cleanup_errors=True) as place:
        data = os.path.join(folder.location, DATA)
        if os.path.isdir(data):
            shutil.copytree(data, place, dirs_exist_ok=True)
        yield os.path.realpath(place)


def run_example(example: Example, tooler: Tooler, directory: str) -> tuple[Tested, bool]:
    """Run an example in a directory; return also whether its thread still runs after a timeout."""
    started = time.perf_counter()
    with chdir(directory):
        name, given = example.folder.name, example.arguments
        result = tooler.call_sync(name, given, timeout=example.limit)
    duration = time.perf_counter() - started
    problems = _problems(example, result)
    is_abandoned = result.error is not None and result.error.is_abandoned
    status: Status = "failed" if problems else "passed"
    return Tested(example, status, "\n".join(problems), duration), is_abandoned


def _problems(example: Example, result: ToolResult) -> list[str]:
    """Return the differences of a result from its example."""
    error, document = result.error, example.document
    if error is not None:
        path, colon, line = (error.place or "").rpartition(":")
        place = f" ({relative_path(path)}{colon}{line})" if path else ""
        return [f"the call fails: {error.message}{place}"]
    if "output" not in document or document.get("output_is") == "description":
        return []
    match = document.get("output_match", MATCHES[0])
    if match == "schema":  # which the call has checked
        words = "its output_match is 'schema', and the manifest has no output_schema"
        return [] if example.has_output_schema else [words]
    found = differences(document["output"], result.value, match)
    wanted = document["output"]
    is_prose = isinstance(wanted, str) and " " in wanted.strip()
    if found and is_prose and "output_match" not in document:
        found = [*found, 'if it only describes the output, write "output_is": "description"']
    return ["the output differs", *found] if found else []
