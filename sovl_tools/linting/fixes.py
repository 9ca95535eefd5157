"""What ``validate --fix`` does: for each rule with a sure fix, one edit of a tool's file.

A fix is safe if the author's intention is clear; the user must allow unsafe fixes.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Literal, NamedTuple, TypeAlias

from sovl_tools.linting.rules import unused_suppression
from sovl_tools.linting.suppressions import SUPPRESSIONS, Suppression, without_suppression
from sovl_tools.loading.interface import parse_module
from sovl_tools.loading.location import Locator
from sovl_tools.loading.pipeline import check_manifest, warnings_of
from sovl_tools.loading.rules import manifest as rules
from sovl_tools.loading.rules.folder import Unreadable
from sovl_tools.loading.rules.schema import other_name
from sovl_tools.loading.sources import (
    MAX_MANIFEST_BYTES,
    MAX_MODULE_BYTES,
    read_file,
    read_manifest,
)
from sovl_tools.model.aliases import TYPES
from sovl_tools.model.diagnostic import (
    Diagnostic,
    ManifestPlace,
    Verdict,
    internal_verdict,
)
from sovl_tools.model.document import JSON, JSON_KINDS, Path, parse_json, value_at
from sovl_tools.model.folder import KEYS, SECTIONS, ToolFolder, name_problem
from sovl_tools.model.suggestion import nearest
from sovl_tools.scaffolding.jsonedit import MARK, edit_json
from sovl_tools.scaffolding.patch import insert, overwrite
from sovl_tools.schema.keywords import KEYWORDS
from sovl_tools.schema.upgrade import modernized

DRIFT = frozenset({"ST302", "ST305", "ST306", "ST307", "ST403", "ST408", "ST412"})
"""Findings that bringing the manifest into line with the function may fix."""
BEHIND = "ST413"
"""The finding that it always fixes; the omissions can be intentional."""

_LIKE = 0.75
"""The least similarity of a name that is meant."""
_KEYWORDS, _TYPES = KEYWORDS, frozenset(JSON_KINDS)
_MAY_HIDE = frozenset({"enabled", "requires", *SECTIONS["requires"]})
_MOST = 100
"""The number of findings of one folder that are fixed in one run."""

Document: TypeAlias = dict[str, JSON]


class Fix(NamedTuple):
    """What fixes one finding.

    Attributes:
        applicability: whether the author's intention is clear.
        message: the change, as an imperative.
        edit: returns the file's text with the fix, given the text without it.
    """

    applicability: Literal["safe", "unsafe"]
    message: str
    edit: Callable[[str], str]


class FixCase(NamedTuple):
    """A tool folder and its manifest's document; empty if its text isn't JSON."""

    folder: ToolFolder
    document: Document

    def parameters_of_function(self) -> frozenset[str] | None:
        """Return the names of the function's parameters; None if the module has no function."""
        source = read_file(self.folder, self.folder.module_name, limit=MAX_MODULE_BYTES)
        found = None
        if not isinstance(source, Unreadable):
            with suppress(SyntaxError, ValueError, RecursionError, MemoryError):
                found = parse_module(source, self.folder.name).signature
        is_known = found is not None and found.is_function
        return frozenset(each.name for each in found.parameters) if found and is_known else None


def _fix(message: str, change: Callable[[Document], object], *, is_safe: bool = True) -> Fix:
    """Return the fix that changes the manifest's document in place."""

    def edit(text: str) -> str:
        document = json.loads(text.removeprefix(MARK))
        change(document)
        return edit_json(text, document)

    return Fix("safe" if is_safe else "unsafe", message, edit)


def _put(path: Path, value: JSON, document: Document) -> None:
    value_at(document, path[:-1])[path[-1]] = value


def _put_first(path: Path, value: JSON, document: Document) -> None:
    holder = value_at(document, path[:-1])
    # "$schema" names the schema of everything, and precedes it
    overwrite(holder, insert(holder, str(path[-1]), value, after=("$schema",)))


def _rename(path: Path, name: str, document: Document) -> None:
    holder = value_at(document, path[:-1])
    overwrite(holder, {name if key == path[-1] else key: each for key, each in holder.items()})


def _remove(path: Path, document: Document) -> None:
    """Remove a member or an item, and the list if that was its last item."""
    holder = value_at(document, path[:-1])
    del holder[path[-1]]
    if holder == []:
        del value_at(document, path[:-2])[path[-2]]


def _renamed(case: FixCase, path: Path, name: str | None) -> Fix | None:
    """Return the fix that renames a key."""
    if name is None or name in value_at(case.document, path[:-1]):
        return None
    # the tool could no longer be offered
    is_safe = name not in _MAY_HIDE
    return _fix(f"rename it to {name!r}", partial(_rename, path, name), is_safe=is_safe)


def _only_meant(word: str, unknown: Sequence[str], known: frozenset[str]) -> str | None:
    """Return the known name that a word is meant to be, if no other unknown word is meant so."""
    name = nearest(word, known, cutoff=_LIKE)
    return (
        None if [nearest(each, known, cutoff=_LIKE) for each in unknown].count(name) > 1 else name
    )


def _renamed_to_one_of(case: FixCase, path: Path, known: frozenset[str]) -> Fix | None:
    unknown = [each for each in value_at(case.document, path[:-1]) if each not in known]
    return _renamed(case, path, _only_meant(str(path[-1]), unknown, known))


def misspelt_manifest_key(case: FixCase, path: Path) -> Fix | None:
    """Renames the key if it can only be one other; ``--unsafe-fixes`` if that may disable."""
    known = KEYS
    if path[:-1]:
        known = SECTIONS.get(str(path[0]), rules.EXAMPLE_KEYS)
    return _renamed_to_one_of(case, path, known)


def misspelt_keyword(case: FixCase, path: Path) -> Fix | None:
    """Renames the keyword if it can only be one other."""
    other = other_name(str(path[-1]), value_at(case.document, path[:-1]))
    if other is not None:
        return _renamed(case, path, other)
    return _renamed_to_one_of(case, path, _KEYWORDS)


def valid_schema(case: FixCase, path: Path) -> Fix | None:
    """Writes types as JSON Schema names them, ``properties``, and keywords of older drafts."""
    if path == ("parameters",):
        return _whole_parameters(case.document["parameters"])
    if path[-1] == "required":
        return _required_as_list(case, path)
    if path[-1] in rules.OLDER_FORMS:
        return _of_older_draft(case, path[:-1])
    return _json_types(case, path) if "type" in path[-2:] else None


def _of_older_draft(case: FixCase, place: Path) -> Fix | None:
    """Return the fix that writes the keywords of a subschema as draft 2020-12 has them."""
    new = modernized(value_at(case.document, place))
    return _fix("write it as in draft 2020-12", partial(_put, place, new))


def _whole_parameters(parameters: JSON) -> Fix | None:
    """Return the fix that lets parameters be a schema of an object."""
    listed = rules.listed_arguments(parameters)
    if listed:
        others = {key: value for key, value in parameters.items() if key not in listed}
        properties = {
            key: {"type": each} if isinstance(each := parameters[key], str) else each
            for key in listed
        }
        whole = {"type": "object", "properties": properties, **others}
        return _fix("put them into 'properties'", partial(_put, ("parameters",), whole))
    if isinstance(parameters, dict) and "type" not in parameters and "properties" in parameters:
        change = partial(_put_first, ("parameters", "type"), "object")
        return _fix('add "type": "object"', change)
    return None


def _json_types(case: FixCase, path: Path) -> Fix | None:
    place = path if path[-1] == "type" else path[:-1]
    old = value_at(case.document, place)
    names = [
        TYPES.get(each.casefold()) or nearest(each, _TYPES, cutoff=_LIKE)
        if isinstance(each, str)
        else None
        for each in (old if isinstance(old, list) else [old])
    ]
    if None in names or len({*names}) < len(names):
        return None
    new = names if isinstance(old, list) else names[0]
    if new == old or (place == ("parameters", "type") and new != "object"):
        return None
    return _fix(f"write {json.dumps(new)}", partial(_put, place, new))


def _required_as_list(case: FixCase, path: Path) -> Fix | None:
    value = value_at(case.document, path)
    if not isinstance(value, bool) or path[-3:-2] != ("properties",):
        return None
    schema, name = value_at(case.document, path[:-3]), path[-2]
    if not value:
        return _fix("remove it", partial(_remove, path))
    if not isinstance(schema.get("required", []), list):
        return None

    def change(document: Document) -> None:
        _remove(path, document)
        value_at(document, path[:-3]).setdefault("required", []).insert(0, name)

    return _fix(f"list {name!r} in 'required' next to 'properties'", change)


def missing_key(case: FixCase, path: Path) -> Fix | None:
    """Adds ``name``, which can only be the folder's; renames what others call ``parameters``."""
    name = case.folder.name
    if path[0] in case.document:
        return _renamed(case, path, "parameters")
    if path != ("name",) or name_problem(name) is not None:
        return None
    return _fix(f'add "name": "{name}"', partial(_put_first, ("name",), name))


def name_of_folder(case: FixCase, _: Path) -> Fix | None:
    """Writes the folder's name if the function has it as well."""
    name = case.folder.name
    if name_problem(name) is not None or case.parameters_of_function() is None:
        return None
    return _fix(f"write {name!r}", partial(_put, ("name",), name))


def required_name(case: FixCase, path: Path) -> Fix | None:
    """Corrects a name in ``required`` if it can only be one property, or removes it."""
    schema, name = value_at(case.document, path[:-2]), value_at(case.document, path)
    properties = frozenset(schema["properties"])
    # a parameter of that name needs a property, which sync adds
    if path[:-2] == ("parameters",) and name in (case.parameters_of_function() or ()):
        return None
    unknown = [each for each in schema["required"] if each not in properties]
    near = _only_meant(name, unknown, properties.difference(schema["required"]))
    if near is not None:
        return _fix(f"write {near!r}", partial(_put, path, near))
    return _fix("remove it", partial(_remove, path))


def items_of_any_kind(_: FixCase, path: Path) -> Fix:
    """Adds ``"items": {}``, which allows anything; only with ``--unsafe-fixes``."""
    change = partial(_put, (*path, "items"), {})
    return _fix('add "items": {}', change, is_safe=False)


def without_mark(_: FixCase, __: Path) -> Fix:
    """Removes the byte order mark."""
    return Fix("safe", "save it without", lambda text: text.removeprefix(MARK))


_LIBERTIES = re.compile(
    r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|,(?=\s*[}\]])|\b(?:True|False|None)\b', re.DOTALL
)
_CONSTANTS = {"True": "true", "False": "false", "None": "null", ",": ""}


def strict_json(case: FixCase, _: Path) -> Fix | None:
    """Removes trailing commas, and writes double quotes, true, false and null, if that is all."""
    data = read_file(case.folder, case.folder.manifest_name, limit=MAX_MANIFEST_BYTES)
    if isinstance(data, Unreadable):
        return None
    try:
        parse_json(_strict(data.decode()).removeprefix(MARK))
    except ValueError:
        return None
    return Fix("safe", "write it as JSON", _strict)


def _strict(text: str) -> str:
    return _LIBERTIES.sub(_as_json, text)


def _as_json(token: re.Match[str]) -> str:
    words = token.group()
    if words[0] != "'":
        return _CONSTANTS.get(words, words)
    # a quotation mark needs a backslash now, an apostrophe none
    escapes = {"\\'": "'", '"': '\\"'}
    inner = re.sub(r'\\.|"', lambda each: escapes.get(each.group(), each.group()), words[1:-1])
    return f'"{inner}"'


def lifted_form(case: FixCase, path: Path) -> Fix | None:
    """Lifts a separate definition to the top, with its schema as ``parameters``."""
    inner = case.document[str(path[0])]
    others = {key: value for key, value in case.document.items() if key != path[0]}
    if isinstance(inner, list) and len(inner) == 1:
        inner = inner[0]
    if not isinstance(inner, dict) or others not in ({}, {"type": "function"}):
        return None
    schemas = [each for each in ("parameters", *rules.ALIASES["parameters"]) if each in inner]
    # which of several is unknown, and Bedrock's is another level deeper
    if len(schemas) > 1 or any(
        not isinstance(inner[each], dict) or "json" in inner[each] for each in schemas
    ):
        return None
    lifted = {"parameters" if key in schemas else key: each for key, each in inner.items()}
    return _fix("lift it to the top", lambda document: overwrite(document, lifted))


Fixer: TypeAlias = Callable[[FixCase, Path], Fix | None]

FIXERS: dict[str, Fixer] = {
    "ST201": strict_json,
    "ST204": without_mark,
    "ST202": misspelt_manifest_key,
    "ST209": missing_key,
    "ST211": name_of_folder,
    "ST212": name_of_folder,
    "ST215": lifted_form,
    "ST301": valid_schema,
    "ST302": required_name,
    "ST305": items_of_any_kind,
    "ST308": misspelt_keyword,
}
"""From the code of a rule to what fixes its findings, given where they are in the manifest."""


def remedy_of(code: str) -> str:
    """Return the documentation of the fix for a rule; empty if it doesn't have one."""
    done = (inspect.getdoc(FIXERS[code]) or "") if code in FIXERS else ""
    if code == unused_suppression.code:
        done = "Removes what suppresses nothing, of an imported tool or a procedure without errors."
    if code in DRIFT:
        more = "Brings the manifest into line with the function, as `sovl-tools sync` does."
        done = f"{done} {more}".strip()
    if code == BEHIND:
        done = "With `--unsafe-fixes`, as `sovl-tools sync` does."
    return f"`validate --fix`: {done}" if done else ""


def fixes_in(folder: ToolFolder, found: Sequence[Diagnostic]) -> dict[Diagnostic, Fix]:
    """Return the fixes for findings in a folder's manifest."""
    wanted = {_identity(each): each for each in found[:_MOST] if each.code in FIXERS}
    fixes: dict[Diagnostic, Fix] = {}
    if not wanted:
        return fixes
    try:
        document, verdicts = _checked(folder)
        case, locator = FixCase(folder, document), Locator(folder)
        for verdict in (each for each in verdicts if each.rule.code in FIXERS):
            (diagnostic,) = locator.diagnostics([verdict])
            place = verdict.finding.place
            path = place.path if isinstance(place, ManifestPlace) else ()
            shown = wanted.get(_identity(diagnostic))
            fix = FIXERS[verdict.rule.code](case, path) if shown is not None else None
            if shown is not None and fix is not None:
                fixes[shown] = fix
    except Exception as error:  # noqa: BLE001 - the barrier: the finding stays
        internal_verdict(error)
    return fixes


def _identity(found: Diagnostic) -> Diagnostic:
    """Return a finding without the differences that ``--warnings-as-errors`` makes."""
    return found._replace(severity="error", help=None)


def _checked(folder: ToolFolder) -> tuple[Document, Sequence[Verdict]]:
    """Return the document of a manifest, and its problems apart from its module."""
    reading = read_manifest(folder)
    if isinstance(reading, Unreadable):
        return {}, []
    if reading.manifest is None:
        return {}, reading.verdicts
    work = check_manifest(folder, reading.manifest, reading.verdicts)
    return dict(reading.manifest.document), [*work.verdicts, *warnings_of(work)]


def suppression_fix(idle: Suppression) -> Fix | None:
    """Return the fix that removes an idle suppression; None if its rule is unknown."""
    if not idle.code and idle.selector:
        return None
    if not idle.path.endswith(".json"):
        return Fix("safe", "remove it", partial(without_suppression, idle))
    if not idle.code:
        return None  # the value isn't a list of rules

    def change(document: Document) -> None:
        document[SUPPRESSIONS] = [e for e in document[SUPPRESSIONS] if e != idle.selector]
        if not document[SUPPRESSIONS]:
            del document[SUPPRESSIONS]

    return _fix("remove it", change)
