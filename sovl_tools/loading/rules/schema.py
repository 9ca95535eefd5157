"""ST3xx: the parameter schemas, one subschema at a time."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from sovl_tools.model.diagnostic import Finding, ManifestPlace, Verdict, ask, rule
from sovl_tools.model.document import JSON, Path, dotted, kind
from sovl_tools.model.errors import SchemaError
from sovl_tools.model.suggestion import did_you_mean, nearest, question
from sovl_tools.schema.comparison import contained
from sovl_tools.schema.emptiness import contradiction
from sovl_tools.schema.engine import compile_schema, compiles, pattern_problem, problems_at
from sovl_tools.schema.keywords import ANNOTATIONS, KEYWORDS
from sovl_tools.schema.names import REPLACED_BY, deprecated_arguments
from sovl_tools.schema.patterns import oddity
from sovl_tools.schema.problem import Problem, Validator, describe, shown
from sovl_tools.schema.subschemas import REFERENCES, SchemaNode, excess, lookup, nodes

_SAYS_TYPE = frozenset(
    {"type", "$ref", "$dynamicRef", "enum", "const", "allOf", "anyOf", "oneOf", "not", "if"}
)
_SAYS_ITEMS = frozenset({"items", "prefixItems", "contains", "unevaluatedItems", "$ref"})
_KEYWORDS = KEYWORDS | {"example"}
_ELSEWHERE = {
    "nullable": 'write it as in "type": ["string", "null"]',
    "optional": "remove the property from 'required'",
}
"""Keywords of other schema languages that are true, and the equivalent in JSON Schema."""
_OTHER_NAMES = {
    **dict.fromkeys(("choices", "values", "options", "allowed_values"), "enum"),
    **dict.fromkeys(("regex", "regexp"), "pattern"),
    **dict.fromkeys(("desc", "help"), "description"),
    "default_value": "default",
}
_LIMITS = {"string": "Length", "array": "Items", "object": "Properties"}


def other_name(keyword: str, schema: Mapping[str, JSON]) -> str | None:
    """Return the keyword of JSON Schema that other systems call by another name.

    Return None for a keyword whose name or value isn't known from elsewhere.
    """
    if keyword in {"min", "max"}:
        kind = schema.get("type")
        suffix = _LIMITS.get(kind) if isinstance(kind, str) else None
        return f"{keyword}{suffix}" if suffix else f"{keyword}imum"
    name = _OTHER_NAMES.get(keyword)
    is_list = isinstance(schema[keyword], list)
    return name if name == "default" or is_list is (name == "enum") else None


def _named(node: SchemaNode) -> str:
    """Return a readable place: ``number1``, ``filters.color``, ``the items of tags``."""
    path = tuple([part for part in node.path[len(node.base) :] if part != "properties"])
    if path and path[-1] == "items":
        return f"the items of {dotted(path[:-1])!r}"
    return repr(dotted(path) or node.base[0])


@rule("ST302")
def required_without_property(node: SchemaNode) -> Iterator[Finding]:
    """``required`` names a property that is not in ``properties``.

    A model must give an argument without a description. Usually one of the two is misspelt or was
    renamed. Schemas under ``anyOf`` and the like can name properties from elsewhere, so they aren't
    checked.
    """
    schema = node.schema
    if node.is_partial or "properties" not in schema or "patternProperties" in schema:
        return
    for index, name in enumerate(schema.get("required", ())):
        if name not in schema["properties"]:
            message = f"{name!r} is required but not among the properties"
            hint = did_you_mean(name, schema["properties"])
            yield Finding(ManifestPlace((*node.path, "required", index)), message, hint)


@rule("ST303")
def invalid_pattern(node: SchemaNode) -> Iterator[Finding]:
    r"""A ``pattern`` or a key of ``patternProperties`` isn't a regular expression.

    Patterns are regular expressions of ECMA-262, compiled when the tool is loaded. If one doesn't
    compile, or is too large, every call fails. In JSON a backslash is written twice: ``"^\\d+$"``.
    """
    for text, place in _patterns(node):
        problem = pattern_problem(text)
        if problem is not None:
            reason, advice = problem
            yield Finding(place, f"{text!r:.80} is not a regular expression: {reason}", advice)


@rule("ST317", "warning")
def odd_pattern(node: SchemaNode) -> Iterator[Finding]:
    r"""A ``pattern`` is valid, but surely means something else.

    Patterns are regular expressions of ECMA-262, the language of JavaScript: ``\Z`` is the letter
    Z there, ``{,3}`` is plain text, and the slashes and flags of ``/^[a-z]+$/i`` belong to the text
    that it searches for. The help has the right form.
    """
    for text, place in _patterns(node):
        odd = oddity(text)
        if odd is not None and compiles(text):
            yield Finding(place, f"in {text!r:.80}, {odd[0]}", odd[1])


def _patterns(node: SchemaNode) -> list[tuple[str, ManifestPlace]]:
    pattern = node.schema.get("pattern")
    places = [(pattern, ManifestPlace((*node.path, "pattern")))] if pattern is not None else []
    return places + [
        (key, ManifestPlace((*node.path, "patternProperties", key), "key"))
        for key in node.schema.get("patternProperties", ())
    ]


@rule("ST304")
def unresolved_reference(node: SchemaNode) -> Iterator[Finding]:
    """A ``$ref`` leads nowhere.

    References are looked up in their own schema, from its root: ``#/$defs/x`` means
    ``parameters/$defs/x``. References to the network or to a file don't work, because a
    tool's schema must not change unnoticed, and loading it must not open connections. Put the
    definition under ``$defs`` of the same schema.
    """
    for keyword in REFERENCES & node.schema.keys():
        reference = node.schema[keyword]
        reason = lookup(node.root, reference).failure
        if reason is None:
            continue
        definitions = [f"#/$defs/{name}" for name in node.root.get("$defs", ())]
        hint = did_you_mean(reference, definitions)
        if hint is None and reference.startswith("#/"):
            # many write "#/parameters/$defs/x", as if the manifest were the schema
            hint = f"references start at {node.base[0]!r}: put it under '$defs' there"
        place = ManifestPlace((*node.path, keyword))
        yield Finding(place, f"the reference {reference!r} {reason}", hint)


@rule("ST305", "warning")
def missing_items(node: SchemaNode) -> Iterator[Finding]:
    """An array doesn't describe its items.

    Models guess, and some providers reject the schema. Add ``items``; ``{}`` allows anything.
    """
    is_array = node.schema.get("type") == "array" and not node.is_partial
    if is_array and node.schema.keys().isdisjoint(_SAYS_ITEMS):
        message = f"the array {_named(node)} doesn't describe its items"
        yield Finding(ManifestPlace(node.path, "key"), message, "add 'items'")


@rule("ST306", "warning")
def missing_description(node: SchemaNode) -> Iterator[Finding]:
    """A property has no description.

    A model only has an argument's name, type and description. Write its meaning, its unit and
    its format. Properties of results need none.
    """
    if node.base[0] == "parameters" and lacks_description(node):
        message = f"{_named(node)} has no description"
        yield Finding(ManifestPlace(node.path, "key"), message, "describe it")


def lacks_description(node: SchemaNode) -> bool:
    """Return True if neither a property nor the target of its reference has a description."""
    if not node.is_property or describes(node.schema):
        return False
    if node.is_below({"if", "not"}):  # a condition needs no explanation
        return False
    target = node.target()
    return target is None or not describes(target.schema)


def describes(schema: Mapping[str, JSON]) -> bool:
    """Return True if a schema has a description that isn't blank."""
    return bool(str(schema.get("description", "")).strip())


@rule("ST307", "warning")
def missing_type(node: SchemaNode) -> Iterator[Finding]:
    """A property accepts every type.

    Without ``type``, ``enum``, ``const``, ``$ref`` or a combinator, models can send anything, and
    the function must cope. Add ``type``; several types are a list.
    """
    if node.is_property and node.schema.keys().isdisjoint(_SAYS_TYPE):
        yield Finding(ManifestPlace(node.path, "key"), f"{_named(node)} has no type", "add 'type'")


@rule("ST308", "warning")
def misspelt_keyword(node: SchemaNode) -> Iterator[Finding]:
    """A keyword looks like one of JSON Schema's, but isn't.

    JSON Schema ignores unknown keywords, so ``requried`` or ``minlength`` has no effect. The same
    is true for ``nullable``, ``optional``, ``min``, ``choices`` or ``regex`` from elsewhere.
    Correct it; your own keywords can begin with ``x-``.
    """
    for keyword, value in node.schema.items():
        if keyword in _KEYWORDS or keyword.startswith("x-"):
            continue
        other = other_name(keyword, node.schema)
        advice = _ELSEWHERE.get(keyword) if value is True else None
        advice = f"write {other!r}" if other else advice
        is_unknown = other is None and keyword not in _ELSEWHERE
        near = nearest(keyword, _KEYWORDS) if is_unknown else None
        if near is not None:
            advice = question(repr(near))
        if advice is not None:
            message = f"{keyword!r} is not a keyword of JSON Schema"
            yield Finding(ManifestPlace((*node.path, keyword), "key"), message, advice)


@rule("ST310", "warning")
def invalid_default(node: SchemaNode) -> Iterator[Finding]:
    """A ``default`` breaks its own schema.

    It isn't filled in when the argument is omitted; the function's own default is used instead.
    Calls of models that copy the default are rejected. Often ``null`` or ``"N/A"`` means "none":
    then remove the default.
    """
    if "default" not in node.schema:
        return
    problems = problems_at(node, node.schema["default"])
    if problems:
        inner = f" at {dotted(problems[0].path)}" if problems[0].path else ""
        message = f"the default of {_named(node)}{inner} {describe(problems[0])}"
        place = ManifestPlace((*node.path, "default"))
        yield Finding(place, message, "correct it, or omit it")


@rule("ST311", "warning")
def invalid_enum(node: SchemaNode) -> Iterator[Finding]:
    """A value of ``enum`` has a type that the schema excludes.

    No argument can have this value, because ``type`` rejects it. Correct the value, or widen the
    type.
    """
    if not {"enum", "type"} <= node.schema.keys():
        return
    kinds = node.schema["type"]
    is_valid = compile_schema({"type": kinds}).is_valid
    for index, value in enumerate(node.schema["enum"]):
        if not is_valid(value):
            message = f"{shown(value)} is {kind(value)!r}, but the type is {shown(kinds)}"
            yield Finding(ManifestPlace((*node.path, "enum", index)), message)


@rule("ST312", "warning")
def default_on_required(node: SchemaNode) -> Iterator[Finding]:
    """A required property has a default.

    The default is never used, because the argument must be given. Remove the property from
    ``required``, or remove the default.
    """
    if node.is_required and "default" in node.schema:
        message = f"{_named(node)} is required, so its default is never used"
        place = ManifestPlace((*node.path, "default"), "key")
        yield Finding(place, message, "remove it from 'required', or remove the default")


@rule("ST316")
def unsatisfiable_schema(node: SchemaNode) -> Iterator[Finding]:
    """No value satisfies a schema.

    A minimum is above its maximum, the values of ``enum`` or ``const`` don't have the type,
    schemas of ``allOf`` contradict each other, or a required property's schema is ``false``. Every
    call that gives the argument fails. Correct one of the two.
    """
    found = contradiction(node)
    if found is not None:
        place = ManifestPlace((*node.base, *found.path))
        message = f"{_named(node)} admits no value: {found.reason}"
        yield Finding(place, message, "correct one of them")


@rule("ST318", "warning")
def unreachable_alternative(node: SchemaNode) -> Iterator[Finding]:
    """No value is valid by an alternative of ``oneOf``, because each matches another as well.

    ``oneOf`` accepts values that match exactly one of its schemas. An integer is also a number, so
    that ``oneOf`` of the two rejects every integer. Write ``anyOf``, or let the schemas exclude
    each other, such as by a ``const``. Imports of OpenAPI documents write ``anyOf`` automatically.
    """
    found = contained(node) if "oneOf" in node.schema else None
    if found is not None:
        every = [_without_words(each) for each in node.schema["oneOf"]]
        one, other = (shown(every[index]) for index in found)
        message = f"{_named(node)}: no value of {one} can pass, as each matches {other} as well"
        place = ManifestPlace((*node.path, "oneOf", found[0]))
        yield Finding(place, message, "write 'anyOf', or let them exclude each other")


def _without_words(schema: JSON) -> JSON:
    if not isinstance(schema, dict):
        return schema
    return {key: each for key, each in schema.items() if key not in ANNOTATIONS} or schema


@rule("ST315", "warning")
def secret_parameter(node: SchemaNode) -> Iterator[Finding]:
    """A property's name requests a secret from the model.

    A model's arguments appear in its prompt, in logs and in traces, and a string that it reads can
    make it send the secret to another tool. This is a heuristic for names such as ``password``,
    ``api_key`` or ``token``. Read secrets where the tool runs, from the environment or from
    ``ToolContext``. If it isn't a secret, suppress the finding with ``x-ignore``.
    """
    is_text = node.schema.get("type") not in ("boolean", "integer", "number")
    is_argument = node.is_property and node.base[0] == "parameters" and is_text
    if is_argument and _is_secret(str(node.path[-1])):
        message = f"{_named(node)} asks a model for a secret"
        advice = "read it where the tool runs, such as from the environment"
        yield Finding(ManifestPlace(node.path, "key"), message, advice)


def _is_secret(name: str) -> bool:
    return _SECRET.search(_BETWEEN_WORDS.sub("_", name).casefold()) is not None


_BETWEEN_WORDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[-. ]")
_SECRET = re.compile(
    r"""(?:^|_) (?: passw(?:or)?d | passphrase | secret | credentials? | api_?key
      | (?:access|private|secret|signing|encryption)_key
      | (?:access|auth|refresh|bearer|api|session|id)_token | client_secret ) $
      | ^token$""",
    re.VERBOSE,
)


@rule("ST319", "warning")
def unknown_replacing_parameter(node: SchemaNode) -> Iterator[Finding]:
    """``x-replaced-by`` names no other parameter, or leads back to its own.

    With lenient arguments, a call that gives the deprecated parameter uses the other one instead.
    That works for the tool's parameters themselves, not for properties inside of one. Correct the
    name, or remove the keyword and describe the alternative.
    """
    if REPLACED_BY not in node.schema:
        return
    place = ManifestPlace((*node.path, REPLACED_BY))
    if node.owner is not node.root or node.base[0] != "parameters":
        yield Finding(place, f"only a parameter itself can have {REPLACED_BY!r}", "remove it")
        return
    former, chain = deprecated_arguments(node.root), [str(node.path[-1])]
    while (other := former.get(chain[-1])) is not None:
        chain.append(other)
        if other in chain[:-1]:
            message = f"{chain[0]!r} is replaced in a circle: {' → '.join(chain)}"
            yield Finding(place, message, "remove the keyword from the parameter to use")
            return
    if len(chain) == 1:
        name = node.schema[REPLACED_BY]
        others = [each for each in node.root["properties"] if each != chain[0]]
        hint = did_you_mean(name, others) if isinstance(name, str) else None
        yield Finding(place, f"{shown(name)} isn't another parameter", hint)


class ExampleCase(NamedTuple):
    """An example of a manifest.

    Attributes:
        path: of its input.
        arguments: its input.
        problems: the meta-schema's problems of the parameters.
        unconvertible: places whose values can't become instances of the annotated type, and why.
    """

    path: Path
    arguments: dict[str, JSON]
    problems: Sequence[Problem] = ()
    unconvertible: tuple[tuple[Path, str], ...] = ()


@rule("ST309")
def invalid_example(case: ExampleCase) -> Iterator[Finding]:
    """A call would reject the ``input`` of an example.

    The tool's own parameters reject it, or the function doesn't take an argument, or an argument
    can't become an instance of its annotated type, such as a date. Models imitate examples, so
    their calls are rejected too. An input is checked if it is an object, or JSON text of one; any
    other strings is only shown. Correct the example or the schema.
    """
    for path, reason in case.unconvertible:
        words = f"the example's input is rejected: {dotted(path)} {reason}"
        yield Finding(ManifestPlace((*case.path, *path)), words)
    for problem in case.problems:
        subject = dotted(problem.path)
        words = f"{subject} {describe(problem)}" if subject else describe(problem)
        place = ManifestPlace((*case.path, *problem.path))
        yield Finding(place, f"the example's input is rejected: {words}")


@rule("ST320", "warning")
def deprecated_argument(case: tuple[ExampleCase, Mapping[str, JSON]]) -> Iterator[Finding]:
    """An example has a deprecated argument.

    Models imitate examples. Show the argument that replaces it, or call without it. The examples of
    a deprecated tool can have any.
    """
    example, parameters = case
    for name, other in deprecated_arguments(parameters).items():
        if name in example.arguments:
            place = ManifestPlace((*example.path, name), "key")
            advice = f"use {other!r}" if other else "leave it out"
            yield Finding(place, f"the example uses the deprecated argument {name!r}", advice)


class Uncompilable(NamedTuple):
    """The key of a schema in the manifest, and the engine's reason why it doesn't compile."""

    key: str
    reason: str


@rule("ST313")
def uncompilable_schema(case: Uncompilable) -> Iterator[Finding]:
    """A schema doesn't compile, although each keyword looks right.

    Usually ``$id``, ``$anchor`` and ``$dynamicRef`` contradict each other, or a reference isn't a
    valid address, such as ``#/$defs/[``. The message is the validator's. Simplify the schema.
    """
    yield Finding(ManifestPlace((case.key,)), f"the schema can't be used: {case.reason}")


@rule("ST314")
def endless_references(root: SchemaNode) -> Iterator[Finding]:
    """The references of a schema multiply to too many subschemas.

    Forty definitions that each refer twice to the one before represent a million million
    subschemas, and checking a value against them would never end. The limits are 10,000 subschemas,
    and chains of 200 references; a schema that refers to itself is fine. Let the alternatives
    differ, or describe them once.
    """
    reason = excess(root.schema)
    if reason is not None:
        message = f"its references {reason}"
        yield Finding(ManifestPlace(root.path, "key"), message, "refer to each definition once")


RULES = (
    required_without_property,
    invalid_pattern,
    odd_pattern,
    unresolved_reference,
    missing_items,
    missing_description,
    missing_type,
    misspelt_keyword,
    invalid_default,
    invalid_enum,
    default_on_required,
    unsatisfiable_schema,
    unreachable_alternative,
    secret_parameter,
    unknown_replacing_parameter,
)
"""Rules for each subschema."""


_SCHEMAS = ("parameters", "output_schema")


class SchemaErrors(NamedTuple):
    """The errors of a manifest's schemas, and the validators of schemas without errors."""

    verdicts: list[Verdict]
    validators: dict[str, Validator]


def errors_of(document: Mapping[str, JSON]) -> SchemaErrors:
    """Compile the schemas of a manifest, which the meta-schema accepts."""
    found = SchemaErrors([], {})
    for key, every in _nodes_of(document).items():
        wrong = _endless(every) or ask(RULES, *every, severity="error")
        if not wrong:
            try:
                found.validators[key] = compile_schema(document[key])
            except SchemaError as error:
                wrong = ask((uncompilable_schema,), Uncompilable(key, error.reason))
        found.verdicts.extend(wrong)
    return found


def warnings_of(document: Mapping[str, JSON]) -> list[Verdict]:
    """Return the warnings about the schemas of a manifest, which the meta-schema accepts."""
    found: list[Verdict] = []
    for every in _nodes_of(document).values():
        # checking a default against an endless schema would never end
        found += [] if _endless(every) else ask(RULES, *every, severity="warning")
    return found


def _nodes_of(document: Mapping[str, JSON]) -> dict[str, list[SchemaNode]]:
    return {key: [*nodes(document[key], (key,))] for key in _SCHEMAS if key in document}


def _endless(every: list[SchemaNode]) -> list[Verdict]:
    has_references = not all(REFERENCES.isdisjoint(node.schema) for node in every)
    return ask((endless_references,), every[0]) if has_references else []
