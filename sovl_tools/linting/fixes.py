"""What mends a finding: for each rule that can be mended surely, the change in the tool's files.

A fix is safe if what is written then can only be what was meant; others are asked for by name.
"""

from __future__ import annotations

import codecs
import inspect
import json
import os
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from copy import deepcopy
from difflib import SequenceMatcher
from functools import cached_property, lru_cache, partial
from itertools import accumulate
from json import JSONDecoder
from typing import Literal, NamedTuple, TypeAlias

from sovl_tools.linting.rules import unused_suppression
from sovl_tools.linting.selection import BEHIND, DRIFT, FIXERS, SUPPRESSIONS, without_idle
from sovl_tools.loading.interface import parse_module
from sovl_tools.loading.jsontext import members
from sovl_tools.loading.rules import manifest
from sovl_tools.loading.rules.folder import Unreadable
from sovl_tools.loading.rules.manifest import EXAMPLE_KEYS, TYPE_SYNONYMS
from sovl_tools.loading.sources import (
    MAX_MANIFEST_BYTES,
    MAX_MODULE_BYTES,
    read_file,
    read_manifest,
)
from sovl_tools.model.catalog import LoadReport
from sovl_tools.model.diagnostic import MAX_FINDINGS, Diagnostic, internal_verdict
from sovl_tools.model.document import JSON, JSON_KINDS, Path, parse_json, value_at
from sovl_tools.model.folder import KEYS, SECTIONS, Manifest, ToolFolder, name_problem
from sovl_tools.procedures.errors import UnreadableError
from sovl_tools.procedures.parse.files import read
from sovl_tools.reporting.text import MOST_SHOWN
from sovl_tools.scaffolding.jsonedit import edit_json, rename_keys
from sovl_tools.schema.engine import published
from sovl_tools.schema.keywords import KEYWORDS
from sovl_tools.signature.signature import Signature

_LIKE, _LEAD = 0.8, 0.1
"""How like a name must be to what was written, and by how much more than any other name."""
_KEYWORDS, _TYPES = frozenset(KEYWORDS), frozenset(JSON_KINDS)
_MAY_HIDE = frozenset({"enabled", "requires", *SECTIONS["requires"]})


class Edit(NamedTuple):
    """One change of a manifest's document.

    Attributes:
        action: ``"rename"`` gives the member of that path another key, ``"put"`` and ``"first"``
            set a value, the second before all others; ``"append"`` adds one to a list, which may
            not be there yet; ``"remove"`` takes out what is there.
        path: where, in the document as it was read.
        value: the new key or value.
    """

    action: Literal["rename", "put", "first", "append", "remove"]
    path: Path
    value: JSON = None


class Fix(NamedTuple):
    """What mends one finding.

    Attributes:
        applicability: whether what is meant is beyond doubt.
        message: what is done, as an imperative.
        edits: of the manifest's document.
        file: the name of a file that is written anew.
        rewrite: returns what that file says then, from what it says.
    """

    applicability: Literal["safe", "unsafe"]
    message: str
    edits: tuple[Edit, ...] = ()
    file: str = ""
    rewrite: Callable[[bytes], bytes] | None = None


class FixCase:
    """A tool's files as they are, and what was found in them."""

    def __init__(self, folder: ToolFolder, found: Sequence[Diagnostic], *, is_loaded: bool) -> None:
        self.folder = folder
        self.found = found
        self.is_loaded = is_loaded

    def read(self, name: str) -> bytes | None:
        """Return what a file says; None if it can't be read."""
        limit = MAX_MANIFEST_BYTES if name == self.folder.manifest_name else MAX_MODULE_BYTES
        data = read_file(self.folder, name, limit=limit)
        return None if isinstance(data, Unreadable) else data

    @cached_property
    def manifest(self) -> Manifest | None:
        """The manifest; None if its text is no JSON that could be edited."""
        reading = read_manifest(self.folder)
        return None if isinstance(reading, Unreadable) else reading.manifest

    @cached_property
    def _paths(self) -> dict[tuple[int, int], Path]:
        """The paths of keys and values by their lines and columns."""
        source = self.manifest.text if self.manifest else ""
        starts = [0, *accumulate(len(line) + 1 for line in source.split("\n"))]
        offsets: dict[int, Path] = {}
        for each in members(source):
            offsets[each.offset] = each.path
            if each.key_offset >= 0:
                offsets.setdefault(each.key_offset, each.path)
        found, line = {}, 0
        for offset in sorted(offsets):
            while starts[line + 1] <= offset:
                line += 1
            found[line + 1, offset - starts[line] + 1] = offsets[offset]
        return found

    def path_of(self, diagnostic: Diagnostic) -> Path | None:
        """Return the path of what a finding in the manifest speaks of."""
        return self._paths.get((diagnostic.line, diagnostic.column))

    @property
    def document(self) -> dict[str, JSON]:
        """The manifest's document; empty if there is none."""
        return dict(self.manifest.document) if self.manifest else {}

    @cached_property
    def signature(self) -> Signature | None:
        """What the function of the folder's name takes; None if the module has none."""
        source = self.read(self.folder.module_name)
        try:
            found = parse_module(source or b"", self.folder.name).signature
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None
        return None if found is None or found.shape in {"class", "value"} else found


def _folded(name: str) -> str:
    return re.sub(r"[-_\s]", "", name.casefold())


@lru_cache(maxsize=1 << 12)
def meant(word: str, known: frozenset[str]) -> str | None:
    """Return the name that can only be meant; None if there is doubt."""
    names = {_folded(each): each for each in sorted(known)}
    folded = _folded(word)[:80]
    if folded in names:
        return names[folded]
    # two letters that have changed places make a short name unlike itself
    turned = [each for each in names if sorted(each) == sorted(folded)]
    if len(turned) == 1:
        return names[turned[0]]
    likeness = [(0.0, ""), (0.0, "")]
    for each in names:
        matcher = SequenceMatcher(None, each, folded)
        # which never is below the ratio, and takes no time
        if matcher.real_quick_ratio() > _LIKE - _LEAD and matcher.quick_ratio() > _LIKE - _LEAD:
            likeness.append((matcher.ratio(), each))
    (best, name), (second, _) = sorted(likeness, reverse=True)[:2]
    return names[name] if best >= _LIKE and best - second >= _LEAD else None


def _misspelt(case: FixCase, path: Path, known: frozenset[str]) -> Fix | None:
    """Return the fix of a key that is nearly one of those known."""
    *above, key = path
    holder = value_at(case.document, tuple(above))
    if not isinstance(holder, dict) or key in known:
        return None
    name = meant(str(key), known)
    unknown = [each for each in holder if each not in known]
    if name is None or name in holder or len(unknown) > MAX_FINDINGS:
        return None
    if [meant(each, known) for each in unknown].count(name) > 1:
        return None
    if not _suits(path, name, holder[key]):
        return None
    # a tool that was offered so far might be no more
    applicability: Literal["safe", "unsafe"] = "unsafe" if name in _MAY_HIDE else "safe"
    return Fix(applicability, f"rename it to {name!r}", (Edit("rename", path, name),))


def _suits(path: Path, name: str, value: JSON) -> bool:
    """Tell whether a value is of the kind that another key in the place of a path has."""
    inner = {"type": "object", "properties": {}}
    sound: dict[str, JSON] = {"name": "x", "description": "x", "parameters": inner}
    place: Path
    match path:
        case (_,):
            place, document = (name,), {**sound, name: value}
        case ("examples", _, _):
            place = ("examples", 0, name)
            document = {**sound, "examples": [{"input": {}, name: value}]}
        case ("parameters", _):
            place, document = ("parameters", name), {**sound, "parameters": {**inner, name: value}}
        case (str(section), _) if section in SECTIONS:
            place, document = (section, name), {**sound, section: {name: value}}
        case _:
            place = ("output_schema", name)
            document = {**sound, "output_schema": {name: value}}
    # what is wrong further in is found there, and may be mended
    return all(each.path != place for each in published("tool").problems(document))


def misspelt_manifest_key(case: FixCase, found: Diagnostic) -> Fix | None:
    """Renames the key if there is one that it can only be; ``--unsafe-fixes`` if it may disable."""
    path = case.path_of(found)
    if not path:
        return None
    section = SECTIONS.get(str(path[0]), KEYS) if len(path) == 2 else KEYS  # noqa: PLR2004
    is_example = path[0] == "examples" and len(path) == 3  # noqa: PLR2004
    return _misspelt(case, path, frozenset(EXAMPLE_KEYS) if is_example else section)


def misspelt_keyword(case: FixCase, found: Diagnostic) -> Fix | None:
    """Renames the keyword if there is one that it can only be."""
    path = case.path_of(found)
    return _misspelt(case, path, _KEYWORDS) if path else None


def valid_schema(case: FixCase, found: Diagnostic) -> Fix | None:
    """Writes types as JSON Schema names them, ``properties``, and ``required`` as a list."""
    path = case.path_of(found) or ()
    if path == ("parameters",):
        parameters = case.document["parameters"]
        listed = manifest.listed_arguments(parameters)
        if listed:
            beside = {key: value for key, value in parameters.items() if key not in listed}
            properties = {key: parameters[key] for key in listed}
            whole = {"type": "object", "properties": properties, **beside}
            return Fix("safe", "put them into 'properties'", (Edit("put", ("parameters",), whole),))
        if isinstance(parameters, dict) and "type" not in parameters and "properties" in parameters:
            return Fix(
                "safe", 'add "type": "object"', (Edit("first", ("parameters", "type"), "object"),)
            )
        return None
    if path[-1:] == ("required",):
        return _required_as_list(case, path)
    return _json_types(case, path) if "type" in path[-2:] else None


def _json_types(case: FixCase, path: Path) -> Fix | None:
    place = path if path[-1] == "type" else path[:-1]
    old = value_at(case.document, place)
    names = [
        TYPE_SYNONYMS.get(each.casefold()) or meant(each, _TYPES) if isinstance(each, str) else None
        for each in (old if isinstance(old, list) else [old])
    ]
    if None in names or len({*names}) < len(names):
        return None
    new = names if isinstance(old, list) else names[0]
    if new == old or (place == ("parameters", "type") and new != "object"):
        return None
    return Fix("safe", f"write {json.dumps(new)}", (Edit("put", place, new),))


def _required_as_list(case: FixCase, path: Path) -> Fix | None:
    value = value_at(case.document, path)
    if not isinstance(value, bool) or path[-3:-2] != ("properties",):
        return None
    remove, place = Edit("remove", path), (*path[:-3], "required")
    if not value:
        return Fix("safe", "remove it", (remove,))
    if not isinstance(value_at(case.document, path[:-3]).get("required", []), list):
        return None
    words = f"list {path[-2]!r} in 'required' beside 'properties'"
    return Fix("safe", words, (Edit("append", place, path[-2]), remove))


def missing_key(case: FixCase, found: Diagnostic) -> Fix | None:
    """Adds ``name``, which can only be the folder's; renames what others call ``parameters``."""
    name, path = case.folder.name, case.path_of(found)
    if path and "parameters" not in case.document and repr("parameters") in found.message:
        is_schema = _suits(path, "parameters", case.document[str(path[0])])
        edits = (Edit("rename", path, "parameters"),)
        return Fix("safe", "rename it to 'parameters'", edits) if is_schema else None
    if (
        case.manifest is None
        or "name" in case.document
        or repr("name") not in found.message
        or name_problem(name) is not None
    ):
        return None
    return Fix("safe", f'add "name": "{name}"', (Edit("first", ("name",), name),))


def name_of_folder(case: FixCase, _: Diagnostic) -> Fix | None:
    """Writes the folder's name if the function has it as well."""
    name = case.folder.name
    if (
        case.document.get("name", name) == name
        or name_problem(name) is not None
        or case.signature is None
    ):
        return None
    return Fix("safe", f"write {name!r}", (Edit("put", ("name",), name),))


def required_name(case: FixCase, found: Diagnostic) -> Fix | None:
    """Corrects a name of ``required`` that can only be another one, or takes it out."""
    path = case.path_of(found)
    if not path or path[-2:-1] != ("required",):
        return None
    name, required = value_at(case.document, path), value_at(case.document, path[:-1])
    properties = value_at(case.document, path[:-2]).get("properties", {})
    if name in properties:
        return None
    others = [each for each in required if each not in properties]
    # a parameter of that name wants a property, which the function tells
    signature = case.signature if path[:-2] == ("parameters",) else None
    if signature is not None and any(each.name == name for each in signature.parameters):
        return None
    near = meant(name, frozenset(properties).difference(required))
    known = frozenset(properties)
    if len(others) > MAX_FINDINGS:
        return None
    if near is not None and [meant(each, known) for each in others].count(near) == 1:
        return Fix("safe", f"write {near!r}", (Edit("put", path, near),))
    return Fix("safe", "remove it", (Edit("remove", path),))


def items_of_any_kind(case: FixCase, found: Diagnostic) -> Fix | None:
    """Adds ``"items": {}``, which says that anything goes; with ``--unsafe-fixes`` alone."""
    path = case.path_of(found)
    node = value_at(case.document, path) if path else None
    if not path or not isinstance(node, dict) or node.get("type") != "array" or "items" in node:
        return None
    return Fix("unsafe", 'add "items": {}', (Edit("put", (*path, "items"), {}),))


def without_mark(case: FixCase, _: Diagnostic) -> Fix | None:
    """Takes the byte order mark away."""
    name, mark = case.folder.manifest_name, codecs.BOM_UTF8
    return Fix("safe", "save it without", file=name, rewrite=lambda data: data.removeprefix(mark))


_LIBERTIES = re.compile(
    r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|,(?=\s*[}\]])|\b(?:True|False|None)\b', re.DOTALL
)
_CONSTANTS = {"True": "true", "False": "false", "None": "null", ",": ""}


def strict_json(case: FixCase, _: Diagnostic) -> Fix | None:
    """Removes trailing commas, and writes double quotes, true, false and null, if that is all."""
    name = case.folder.manifest_name
    try:
        parse_json(_strict((case.read(name) or b"").removeprefix(codecs.BOM_UTF8)).decode())
    except ValueError:
        return None
    return Fix("safe", "write it as JSON", file=name, rewrite=_strict)


def _strict(data: bytes) -> bytes:
    return _LIBERTIES.sub(_as_json, data.decode()).encode()


def _as_json(token: re.Match[str]) -> str:
    words = token.group()
    if words[0] != "'":
        return _CONSTANTS.get(words, words)
    # a quotation mark needs a backslash now, an apostrophe none
    escapes = {"\\'": "'", '"': '\\"'}
    inner = re.sub(r'\\.|"', lambda each: escapes.get(each.group(), each.group()), words[1:-1])
    return f'"{inner}"'


def lifted_form(case: FixCase, found: Diagnostic) -> Fix | None:
    """Lifts the one definition to the top if nothing is beside it, with ``parameters``."""
    path = case.path_of(found) or ("",)
    inner = case.document.get(str(path[0]))
    beside = {key: value for key, value in case.document.items() if key != path[0]}
    if isinstance(inner, list) and len(inner) == 1:
        path, inner = (*path, 0), inner[0]
    if not isinstance(inner, dict) or beside not in ({}, {"type": "function"}):
        return None
    schemas = [each for each in ("parameters", *manifest.ALIASES["parameters"]) if each in inner]
    # which of several is unknown, and Bedrock's is another level deeper
    if len(schemas) > 1 or any(
        not isinstance(inner[each], dict) or "json" in inner[each] for each in schemas
    ):
        return None
    rewrite = partial(_lifted, path=path, schema=next(iter(schemas), ""))
    return Fix("safe", "lift it to the top", file=case.folder.manifest_name, rewrite=rewrite)


def _lifted(data: bytes, *, path: Path, schema: str) -> bytes:
    text = data.decode()
    places = {each.path: each for each in members(text)}
    start = places[path].offset
    _, end = JSONDecoder().raw_decode(text, start)
    inner = text[start:end]
    if schema:
        at = places[*path, schema].key_offset - start
        _, behind = JSONDecoder().raw_decode(inner, at)
        inner = f'{inner[:at]}"parameters"{inner[behind:]}'
    # no string of JSON goes over the end of a line
    margin = inner.rpartition("\n")[2][:-1]
    if not margin.strip():
        inner = inner.replace(f"\n{margin}", "\n")
    head, tail = text[: text.index("{")], text[len(text.rstrip()) :]
    return f"{head}{inner}{tail}".encode()


def idle_suppression(case: FixCase, found: Diagnostic) -> Fix | None:
    """Takes out what leaves nothing out, of an imported tool or a procedure without errors."""
    if not case.is_loaded or found.message.startswith("there is no "):
        return None
    name = found.path.removeprefix(f"{case.folder.path}/")
    if name.endswith(".py"):
        return _without_comment(case.read(name) or b"", name, found)
    path = case.path_of(found)
    if not path or path[0] != SUPPRESSIONS or len(path) == 1:
        return None
    if str(value_at(case.document, path)) not in found.message:
        return None
    return Fix("safe", "remove it", (Edit("remove", path),))


def _without_comment(before: bytes, name: str, found: Diagnostic) -> Fix | None:
    def rewrite(data: bytes) -> bytes:
        mark = codecs.BOM_UTF8 if data.startswith(codecs.BOM_UTF8) else b""
        lines = data.removeprefix(mark).decode().split("\n")
        # another fix of the same line may have taken it out
        line = "".join(lines[found.line - 1 : found.line])
        code, comment = line[: found.column - 1], line[found.column - 1 :].rstrip("\r")
        rest = without_idle(comment, found.message)
        if rest is None:
            return data
        end = "\r" * line.endswith("\r")
        changed = [f"{code}{rest}{end}" if rest else f"{code.rstrip()}{end}"]
        lines[found.line - 1 : found.line] = changed if rest or code.strip() else []
        return mark + "\n".join(lines).encode()

    try:
        after = rewrite(before)
        # in a procedure it may be a part of a text
        is_comment = name.endswith(".py") or (
            read(before, path=name).value == read(after, path=name).value
        )
    except (ValueError, UnreadableError):  # it is no UTF-8, or no procedure
        return None
    if after == before or not is_comment:
        return None
    return Fix("safe", "remove it", file=name, rewrite=rewrite)


def procedure_fixes(report: LoadReport, paths: Collection[str]) -> dict[Diagnostic, Fix]:
    """Return what mends the findings of a report in procedures of these paths: idle suppressions.

    Of a procedure with errors most was not looked at, so that it is left alone.
    """
    flawed = {each.path for each in report.errors}
    found: dict[Diagnostic, Fix] = {}
    for each in report.diagnostics:
        if each.code != unused_suppression.code or each.path not in paths or each.path in flawed:
            continue
        if not each.message.startswith("there is no "):
            folder, name = directory_of(each.path)
            fix = _without_comment(
                FixCase(folder, (), is_loaded=True).read(name) or b"", name, each
            )
            found |= {} if fix is None else {each: fix}
    return found


def directory_of(path: str) -> tuple[ToolFolder, str]:
    """Return the directory that a procedure is in, which can have drafts, and its name there."""
    directory, name = os.path.split(path)
    location = os.path.dirname(os.path.abspath(path))
    return ToolFolder(os.path.basename(location), directory or os.curdir, location), name


Fixer: TypeAlias = Callable[[FixCase, Diagnostic], Fix | None]


def fixer_of(code: str) -> Fixer | None:
    """Return what mends the findings of a rule; None if nothing does."""
    fixer: Fixer | None = globals()[FIXERS[code]] if code in FIXERS else None
    return fixer


def remedy_of(code: str) -> str:
    """Return what ``validate --fix`` does about the findings of a rule; empty if nothing."""
    done = inspect.getdoc(fixer_of(code)) if code in FIXERS else ""
    if code in DRIFT:
        more = "Brings the manifest into line with the function, as `sovl-tools sync` does."
        done = f"{done} {more}".strip()
    if code == BEHIND:
        done = "With `--unsafe-fixes`, as `sovl-tools sync` does."
    return f"`validate --fix`: {done}" if done else ""


def fixes_in(
    report: LoadReport, folders: Sequence[ToolFolder], *, imports: bool
) -> dict[Diagnostic, Fix]:
    """Return what mends the findings of a report, of those that can be mended.

    ``imports`` tells whether the modules were imported, without which nobody knows what a
    suppression leaves out.
    """
    loaded = {each.path for each in report.folders if each.status == "loaded" and imports}
    found: dict[Diagnostic, Fix] = {}
    for folder, diagnostics in by_folder(report, folders):
        case = FixCase(folder, diagnostics, is_loaded=folder.path in loaded)
        # each looks at whole files; what is left is mended in the next run
        for each in diagnostics[:MOST_SHOWN]:
            try:
                fixer = fixer_of(each.code)
                fix = None if fixer is None else fixer(case, each)
            except Exception as error:  # noqa: BLE001 - the barrier: whatever can't be mended stays
                internal_verdict(error)
            else:
                found |= {} if fix is None else {each: fix}
    return found


def by_folder(
    report: LoadReport, folders: Sequence[ToolFolder]
) -> Iterator[tuple[ToolFolder, list[Diagnostic]]]:
    """Yield the folders in whose files something was found, with the findings."""
    known = {each.path: each for each in folders}
    found: dict[str, list[Diagnostic]] = {}
    for each in report.diagnostics:
        path = os.path.dirname(each.path)
        if path in known:
            found.setdefault(path, []).append(each)
    for path, diagnostics in found.items():
        yield known[path], diagnostics


def mended(folder: ToolFolder, fixes: Sequence[Fix]) -> ToolFolder:
    """Return a folder with drafts in which fixes are made, in the order of their findings."""
    try:
        drafts, name = dict(folder.drafts), folder.manifest_name
        edits = [edit for each in fixes for edit in each.edits]
        case = FixCase(folder, (), is_loaded=False)
        if edits and case.manifest is not None:
            drafts[name] = encoded(folder, _edited(case.manifest, edits))
        # from the last line on, so that the places of those before it stay
        for each in reversed(fixes):
            before = drafts.get(each.file) or case.read(each.file)
            if each.rewrite is not None and before is not None:
                drafts[each.file] = each.rewrite(before)
        return folder._replace(drafts=tuple(drafts.items()))
    except Exception as error:  # noqa: BLE001 - the barrier: what can't be mended stays
        internal_verdict(error)
        return folder


def encoded(folder: ToolFolder, content: str) -> bytes:
    """Return the bytes of a manifest; what begins with a byte order mark still does."""
    data = read_file(folder, folder.manifest_name, limit=MAX_MANIFEST_BYTES)
    has_mark = isinstance(data, bytes) and data.startswith(codecs.BOM_UTF8)
    return codecs.BOM_UTF8 * has_mark + content.encode()


def _edited(before: Manifest, edits: Sequence[Edit]) -> str:
    document = deepcopy(before.document)
    for action, path, value in edits:
        holder: JSON = value_at(document, path[:-1])
        if action == "put":
            holder[path[-1]] = value
        elif action == "append":
            holder.setdefault(path[-1], [])
            holder[path[-1]] += [value] * (value not in holder[path[-1]])
        elif action == "first":
            # what names the schema comes before everything
            schema_of = {key: holder[key] for key in holder if key == "$schema"}
            others = dict(holder)
            holder.clear()
            holder.update({**schema_of, path[-1]: value, **others})
    # from the last one on, so that the indexes of those before it stay
    removed = sorted((each.path for each in edits if each.action == "remove"), reverse=True)
    for path in removed:
        del value_at(document, path[:-1])[path[-1]]
    for path in {each[:-1] for each in removed}:
        if value_at(document, path) == []:
            del value_at(document, path[:-1])[path[-1]]
    renamed = {each.path: each.value for each in edits if each.action == "rename"}
    return rename_keys(edit_json(before.text, document), renamed)
