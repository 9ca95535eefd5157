"""ST2xx, second part: the manifest as a document."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from sovl_tools.loading.requirements import parsed_requirement
from sovl_tools.model.aliases import PARAMETERS, TYPES, WRAPPERS
from sovl_tools.model.diagnostic import Finding, ManifestPlace, rule
from sovl_tools.model.document import JSON, JSON_KINDS, Path, dotted
from sovl_tools.model.folder import KEYS, REQUIRED_KEYS, SECTIONS, ToolFolder, name_problem
from sovl_tools.model.suggestion import did_you_mean, nearest, question
from sovl_tools.schema.problem import Problem, describe

EXAMPLE_KEYS = frozenset({"input", "output", "output_is", "output_match", "description"})
_OWN_KEY = "remove it, or begin it with 'x-' if it is yours"
_SCHEMA_KEYS = {"parameters", "output_schema"}
ALIASES = {"parameters": tuple(each for each in PARAMETERS if each != "parameters")}
"""Names of required keys in other systems."""
_MISSING = {
    "name": 'add the folder\'s name: "name": "{}"',
    "description": "describe the tool and when a model should use it",
    "parameters": 'a tool without arguments has {{"type": "object", "properties": {{}}}}',
}


class ManifestCase(NamedTuple):
    """A manifest's document, and its problems with the meta-schema."""

    folder: ToolFolder
    document: Mapping[str, JSON]
    problems: list[Problem]

    def alias(self, key: str) -> str | None:
        """Return the name of a missing key in another system, if the document has that."""
        if key in self.document:
            return None
        return next((each for each in ALIASES.get(key, ()) if each in self.document), None)

    @property
    def wrapper(self) -> str | None:
        """The key with the definition if the manifest has another system's form; else None."""
        if not self.problems or not self.document.keys().isdisjoint(REQUIRED_KEYS):
            return None
        for key in WRAPPERS:
            inner = self.document.get(key)
            first = inner[0] if isinstance(inner, list) and inner else inner
            if isinstance(first, dict) and not first.keys().isdisjoint(("name", "description")):
                return key
        return None


@rule("ST202", "warning")
def unknown_key(case: ManifestCase) -> Iterator[Finding]:
    """The manifest has an unknown key.

    It is ignored: a misspelt ``enabled`` has no effect. This is a warning, so that a manifest
    for a newer version still loads. Correct the key, or begin it with ``x-`` if it is your own.
    """
    if case.wrapper is not None:
        return
    if not case.document.keys() <= KEYS:
        # keys with another name in other frameworks are reported by the rule for missing keys
        aliases = {case.alias(key) for key in REQUIRED_KEYS}
        own = {key: each for key, each in case.document.items() if key not in aliases}
        yield from _unknown(own, KEYS, ())
    for section, keys in SECTIONS.items():
        if section in case.document:
            yield from _unknown(case.document[section], keys, (section,))
    examples = case.document.get("examples")
    for index, example in enumerate(examples if isinstance(examples, list) else ()):
        yield from _unknown(example, EXAMPLE_KEYS, ("examples", index))


def _unknown(document: JSON, known: frozenset[str], path: Path) -> Iterator[Finding]:
    if not isinstance(document, dict) or document.keys() <= known:  # as nearly all are
        return
    for key in document:
        if key not in known and not key.startswith("x-"):
            where = f"a key of {dotted(path)!r}" if path else "a manifest key"
            message = f"{key!r} is not {where}"
            own = "the arguments are under 'parameters'" if key in PARAMETERS and not path else None
            hint = own or did_you_mean(key, known) or _elsewhere(key) or _OWN_KEY
            yield Finding(ManifestPlace((*path, key), "key"), message, hint)


def _elsewhere(key: str) -> str | None:
    """Return the hint for a key of a section."""
    for section, keys in SECTIONS.items():
        near = nearest(key, keys)
        if near is not None:
            return question(f"{near!r} in {section!r}")
    return None


@rule("ST209")
def missing_key(case: ManifestCase) -> Iterator[Finding]:
    """The manifest lacks ``name``, ``description`` or ``parameters``.

    All providers require these three. The parameters of a tool without arguments are ``{"type":
    "object", "properties": {}}``. MCP's ``inputSchema`` and Anthropic's ``input_schema`` are
    ``parameters`` here.
    """
    for key in REQUIRED_KEYS if case.wrapper is None else ():
        alias = case.alias(key)
        if alias is not None:
            place = ManifestPlace((alias,), "key")
            message = f"the manifest lacks {key!r}, which others call {alias!r}"
            yield Finding(place, message, f"write {key!r}")
        elif key not in case.document:
            hint = _MISSING[key].format(case.folder.name)
            yield Finding(ManifestPlace((key,)), f"the manifest lacks {key!r}", hint)


@rule("ST215")
def foreign_form(case: ManifestCase) -> Iterator[Finding]:
    """The manifest is a definition in the form of OpenAI, MCP or another system.

    Such forms contain name, description and schema one level deeper, as in ``{"type": "function",
    "function": {…}}`` or ``{"tools": […]}``. Lift the inner object to the top, or let
    ``sovl-tools import openai FILE`` write a folder for each tool. ``sovl-tools export`` does the
    opposite.
    """
    key = case.wrapper
    if key is not None:
        message = f"this is {WRAPPERS[key]}'s form of a tool, not a manifest"
        hint = f"lift the inner object: write at the top what is in {key!r}"
        definition = case.document[key]
        first = definition[0] if isinstance(definition, list) else definition
        schema = next((each for each in ALIASES["parameters"] if each in first), None)
        hint += f", and {schema!r} as 'parameters'" if schema else ""
        hint += "; or have folders written: sovl-tools import openai FILE"
        yield Finding(ManifestPlace((key,), "key"), message, hint)


@rule("ST210")
def invalid_value(case: ManifestCase) -> Iterator[Finding]:
    """A key of the manifest has a value of the wrong kind.

    ``sovl-tools schema tool`` prints the types, and ``docs/reference/manifest.md`` describes them.
    Values aren't converted: ``"enabled": "false"`` would be a truthy string.
    """
    for problem in case.problems:
        if problem.path and problem.path[0] not in {*_SCHEMA_KEYS, "name"}:
            yield Finding(ManifestPlace(problem.path), *value_words(problem))


@rule("ST211")
def name_mismatch(case: ManifestCase) -> Iterator[Finding]:
    """The name in the manifest isn't the folder's.

    Folder, manifest file, module file, ``name`` and function have the same name, so that a call
    leads to a file. Make them equal.
    """
    name = case.document.get("name")
    if isinstance(name, str) and name_problem(name) is None and name != case.folder.name:
        message = f"the name is {name!r}, the folder's is {case.folder.name!r}"
        yield Finding(ManifestPlace(("name",)), message, "make them equal")


@rule("ST212")
def invalid_name(case: ManifestCase) -> Iterator[Finding]:
    """The name in the manifest can't name a tool.

    It must be an ASCII Python identifier of at most 64 characters, and not a keyword, because it is
    the function's name and because providers accept few others.
    """
    name = case.document.get("name", "")
    reason = name_problem(name) if isinstance(name, str) else "it isn't a string"
    if "name" in case.document and reason is not None and name != case.folder.name:
        message = f"{name!r:.80} can't name a tool: {reason}"
        yield Finding(
            ManifestPlace(("name",)), message, f"the folder's name is {case.folder.name!r}"
        )


@rule("ST214")
def invalid_requirement(case: ManifestCase) -> Iterator[Finding]:
    """An entry of ``requires.packages`` isn't a requirement.

    It can't be found, so the tool would never be available. Write it as for pip, such as
    ``PyYAML>=6`` or ``httpx[http2]; python_version < "4"``, or write the name of the imported
    module.
    """
    requires = case.document.get("requires")
    packages = requires.get("packages") if isinstance(requires, dict) else None
    for index, text in enumerate(packages if isinstance(packages, list) else ()):
        if isinstance(text, str) and text and parsed_requirement(text) is None:
            place = ManifestPlace(("requires", "packages", index))
            hint = "write it as pip takes it, such as 'PyYAML>=6'"
            yield Finding(place, f"{text!r:.80} isn't a requirement", hint)


@rule("ST301")
def invalid_schema(case: ManifestCase) -> Iterator[Finding]:
    """A parameter schema isn't valid JSON Schema.

    ``parameters`` and ``output_schema`` are checked against the meta-schema of draft 2020-12;
    ``parameters`` must also have ``"type": "object"`` and ``properties``. Providers reject the
    definition, or ignore the keyword. Correct the keyword's value.
    """
    listed = listed_arguments(case.document.get("parameters"))
    if listed:
        message = "'parameters' lists the arguments, but must be a schema that has them"
        names = ", ".join(f'"{name}": {{…}}' for name in listed[:3])
        names += ", …" * (len(listed) > 3)  # noqa: PLR2004 - enough to show the form
        hint = f'write {{"type": "object", "properties": {{{names}}}}}'
        yield Finding(ManifestPlace(("parameters",)), message, hint)
    for problem in without_repeats(case.problems):
        path = problem.path
        if path and path[0] in _SCHEMA_KEYS and not (listed and path[0] == "parameters"):
            yield Finding(ManifestPlace(path), *value_words(problem))


def listed_arguments(parameters: JSON) -> list[str]:
    """Return the names of arguments that are listed without ``properties`` around them."""
    if not isinstance(parameters, dict) or "properties" in parameters:
        return []
    beside = ("type", "required", "description")
    members = {
        name: each
        for name, each in parameters.items()
        if isinstance(each, dict) or name not in beside
    }
    is_listed = all(
        each.casefold() in _TYPE_NAMES
        if isinstance(each, str)
        else isinstance(each, dict) and not _SAYS_SCHEMA.isdisjoint(each)
        for each in members.values()
    )
    return [*members] if is_listed else []


_TYPE_NAMES = frozenset({*TYPES, *JSON_KINDS})
_SAYS_SCHEMA = frozenset({"type", "description", "enum", "$ref", "anyOf", "oneOf", "const"})


def without_repeats(problems: list[Problem]) -> list[Problem]:
    """Return the problems without others of a value that must be a constant."""
    fixed = {each.path for each in problems if each.keyword == "const"}
    return [each for each in problems if each.keyword == "const" or each.path not in fixed]


def value_words(problem: Problem) -> tuple[str, str | None]:
    """Return the problem of a value in a manifest, and the advice if there is any."""
    is_in_schema = bool(problem.path) and problem.path[0] in _SCHEMA_KEYS
    # only a property's own 'required' can be true, as it was in early drafts
    if is_in_schema and problem.path[-1] == "required" and isinstance(problem.value, bool):
        named = problem.path[-2] if problem.path[-3:-2] == ("properties",) else None
        if named is not None:
            listed = f'"required": ["{named}"] next to \'properties\''
            advice = (
                f"write {listed}" if problem.value else "remove it: what is not listed is optional"
            )
            return f"{dotted(problem.path)!r} {describe(problem)}", advice
    # the branches are a name and a list of names; a string is meant as a name
    is_type = is_in_schema and problem.path[-1] == "type" and bool(problem.branches)
    if is_type and isinstance(problem.value, str):
        message = f"{problem.value!r} is not a JSON Schema type"
        synonym = TYPES.get(problem.value.casefold())
        hint = f"write {synonym!r}" if synonym else did_you_mean(problem.value, JSON_KINDS)
        return message, hint or f"the types are {', '.join(JSON_KINDS)}"
    older = OLDER_FORMS.get(str(problem.path[-1])) if is_in_schema else None
    if older is not None and isinstance(problem.value, older[0]):
        return f"{dotted(problem.path)!r} {describe(problem)}", older[1]
    # outside of schemas, most patterns of the meta-schema reject blank strings
    is_blank = problem.keyword == "pattern" and not is_in_schema and not problem.value.strip()
    words = "must not be blank" if is_blank else describe(problem)
    return f"{dotted(problem.path)!r} {words}", None


_BOUND = "write the bound itself, as in {{\"{0}\": 5}}, and omit '{1}'"
OLDER_FORMS: Mapping[str, tuple[type, str]] = {
    "exclusiveMinimum": (bool, _BOUND.format("exclusiveMinimum", "minimum")),
    "exclusiveMaximum": (bool, _BOUND.format("exclusiveMaximum", "maximum")),
    "items": (list, "a list of schemas is called 'prefixItems' since draft 2020-12"),
}
"""Keywords of older drafts: the type of their value there, and the advice."""


@rule("ST216", "warning")
def unused_output_match(case: ManifestCase) -> Iterator[Finding]:
    """An example has ``output_match``, but no output to compare.

    ``sovl-tools test`` compares an ``output`` unless it is a description, and ``"schema"`` needs an
    ``output_schema``: without it the example fails. Add the missing part, or remove the key.
    """
    examples = case.document.get("examples")
    for index, example in enumerate(examples if isinstance(examples, list) else ()):
        if not isinstance(example, dict) or "output_match" not in example:
            continue
        place = ManifestPlace(("examples", index, "output_match"), "key")
        if "output" not in example:
            yield Finding(place, "'output_match' says how to compare no 'output'", "add the output")
        elif example.get("output_is") == "description":
            words = "'output_match' says how to compare a description, which never is compared"
            yield Finding(place, words, "remove it, or 'output_is'")
        elif example["output_match"] == "schema" and "output_schema" not in case.document:
            words = "'output_match' asks for the 'output_schema', which the manifest lacks"
            yield Finding(place, words, "add one, or compare with the output")


RULES = (
    unknown_key,
    missing_key,
    foreign_form,
    invalid_value,
    name_mismatch,
    invalid_name,
    invalid_requirement,
    invalid_schema,
    unused_output_match,
)
