"""ST4xx: the code against the manifest. The rules take a signature and do not know its maker."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from keyword import iskeyword
from typing import NamedTuple

from sovl_tools.annotations.hints import HIDDEN, marker_of
from sovl_tools.loading.import_errors import without_modules
from sovl_tools.loading.interface import Interface
from sovl_tools.model.diagnostic import (
    Finding,
    ManifestPlace,
    ModulePlace,
    Place,
    Verdict,
    ask,
    rule,
)
from sovl_tools.model.document import JSON, Path
from sovl_tools.model.folder import Manifest
from sovl_tools.model.suggestion import did_you_mean, nearest, one_of
from sovl_tools.schema.applicators import exclude_each_other, numeric
from sovl_tools.schema.engine import problems_at
from sovl_tools.schema.problem import shown
from sovl_tools.schema.subschemas import SchemaNode
from sovl_tools.signature.agreement import (
    PARAMETERS,
    Difference,
    Kind,
    converted,
    differences,
    value_differences,
)
from sovl_tools.signature.inference import Inference
from sovl_tools.signature.signature import BY_KEYWORD, REQUIRED, Signature

PROPERTIES: Path = (*PARAMETERS, "properties")
_BUNDLES = frozenset(
    {"args", "arguments", "data", "input", "inputs", "kwargs", "params", "parameters", "payload"}
)
_DICTIONARY = re.compile(r"(typing\.)?(dict|Dict|Mapping)\b")


class AgreementCase(NamedTuple):
    """A manifest's arguments, what the module offers, and how the function differs from them.

    ``converted`` are the parameters of which calls refuse what their annotations don't admit;
    ``implied`` is what the function says of its arguments, where values were compared.
    """

    name: str
    parameters: dict[str, JSON]
    interface: Interface
    differences: tuple[Difference, ...] = ()
    converted: frozenset[str] = frozenset()
    implied: Inference | None = None

    @classmethod
    def between(cls, manifest: Manifest, interface: Interface) -> AgreementCase:
        """Return the case of a manifest, whose parameters are a schema, and its module."""
        name, parameters = manifest.document["name"], manifest.document["parameters"]
        signature = interface.signature
        if signature is None:
            return cls(name, parameters, interface)
        found = tuple(differences(signature, parameters))
        names = converted(signature).intersection(parameters["properties"])
        return cls(name, parameters, interface, found, names)

    @property
    def signature(self) -> Signature:
        """The function's signature, an empty one if there is no function."""
        return self.interface.signature or Signature()

    @property
    def properties(self) -> dict[str, JSON]:
        """The schemas of the arguments."""
        properties: dict[str, JSON] = self.parameters["properties"]
        return properties

    @property
    def keywords(self) -> list[str]:
        """The names of the parameters that an argument of the model can be given to."""
        return [
            each.name
            for each in self.signature.parameters
            if each.kind in BY_KEYWORD and not each.annotation.is_context
        ]

    @property
    def spare(self) -> list[str]:
        """The parameters that have no property, for which a property may be meant."""
        return [each for each in self.keywords if each not in self.properties]

    @property
    def annotations(self) -> dict[str, str]:
        """The text of the annotation of each parameter."""
        parameters = self.signature.parameters
        return {each.name: without_modules(each.annotation.text) for each in parameters}

    @property
    def bundle(self) -> str | None:
        """The one parameter that is meant to receive all arguments together, as a dictionary."""
        own = [each for each in self.signature.parameters if not each.annotation.is_context]
        if len(own) != 1 or not self.properties or own[0].name in self.properties:
            return None
        name, kind, default, annotation = own[0]
        is_meant = name in _BUNDLES or bool(_DICTIONARY.match(annotation.text or ""))
        return name if is_meant and kind in BY_KEYWORD and default is REQUIRED else None

    @property
    def definition(self) -> str:
        """The head of a function that takes the arguments."""
        required = self.parameters.get("required", ())
        names = [each for each in self.properties if each.isidentifier() and not iskeyword(each)]
        names.sort(key=lambda name: name not in required)
        shown = [name if name in required else f"{name}=None" for name in names]
        return f"def {self.name}({', '.join(shown)}): …"

    def of(self, kind: Kind) -> list[Difference]:
        """Return the differences of one kind."""
        return [each for each in self.differences if each.kind == kind]

    def place(self, difference: Difference) -> Place:
        """Return the parameter that a difference is about; the manifest's place of an inner one."""
        if difference.name in self.properties:
            return ModulePlace(self.name, difference.name)
        return ManifestPlace(difference.path)

    def with_values(self) -> AgreementCase:
        """Return the case with the differences in values, which never stop a load."""
        if self.interface.signature is None or not self.signature.is_function:
            return self
        implied = self.interface.implied()
        nullable = {each.name for each in self.signature.parameters if each.annotation.optional}
        found = [
            each
            for each in value_differences(self.parameters, implied.with_all_defaults)
            # where both admit null, a tool may be meant to receive nothing else
            if each.name not in nullable or not _is_about_null(each)
        ]
        return self._replace(differences=(*self.differences, *found), implied=implied)

    def is_refused(self, difference: Difference) -> bool:
        """Tell whether a call refuses values that the manifest names outright."""
        return difference.kind in _REFUSED and argument_of(difference) in self.converted


def _is_about_null(each: Difference) -> bool:
    is_type = each.kind == "types" and "null" in each.said and _exclude_each_other(each)
    return each.kind == "null" or is_type


_REFUSED = frozenset({"types", "alternative", "value", "bounds", "superfluous", "missing"})


def argument_of(difference: Difference) -> str:
    """Return the parameter in whose value a difference lies."""
    return re.split(r"[.\[]", difference.name, maxsplit=1)[0]


def contradictions(manifest: Manifest, interface: Interface) -> list[Verdict]:
    """Return what is wrong in the values that a manifest admits."""
    names = converted(interface.signature or Signature())
    case = AgreementCase(manifest.name, manifest.parameters, interface, converted=names)
    return ask(RULES, case.with_values())


def disagreements(manifest: Manifest, interface: Interface) -> list[Verdict]:
    """Return what is wrong between a manifest, whose parameters are a schema, and its module."""
    return ask(RULES, AgreementCase.between(manifest, interface))


@rule("ST401")
def missing_function(case: AgreementCase) -> Iterator[Finding]:
    """The module has no function of the tool's name.

    A call runs the function that is called like the folder. It may be sync or async, a
    generator (its items become a list), a lambda bound to the name, a ``functools.partial``, a
    decorated function or any other callable object. A name that the module imports counts.
    Rename the function, or bind the name.
    """
    if case.interface.signature is None:
        near = nearest(case.name, case.interface.names)
        hint = f"rename {near!r} to {case.name!r}" if near else f"add: def {case.name}(…): …"
        yield Finding(ModulePlace(near), f"the module has no function {case.name!r}", hint)


@rule("ST402")
def required_without_parameter(case: AgreementCase) -> Iterator[Finding]:
    """A required property is no parameter of the function.

    Every call would fail with a TypeError, because the argument is always sent. Add the
    parameter, or take the property out of the manifest. ``**kwargs`` takes everything. Nothing is
    said of a function whose decorator takes ``**kwargs``: it may pass on others than it was given.
    """
    # of a function that takes all of them in one dictionary something better is said
    for each in case.of("required_not_taken") if case.bundle is None else ():
        yield _not_taken(case, each.name)


@rule("ST404")
def property_without_parameter(case: AgreementCase) -> Iterator[Finding]:
    """An optional property is no parameter of the function.

    A model may send it, and then the call fails with a TypeError. Add the parameter with a
    default, or take the property out of the manifest. A property that is a Python keyword, such
    as ``from`` or ``class``, can only be taken through ``**kwargs``.
    """
    # of a function that takes all of them in one dictionary something better is said
    for each in case.of("optional_not_taken") if case.bundle is None else ():
        yield _not_taken(case, each.name)


def _not_taken(case: AgreementCase, name: str) -> Finding:
    hint = did_you_mean(name, case.spare) or f"add a parameter {name!r}, or remove the property"
    if iskeyword(name) or not name.isidentifier():
        hint = "no parameter can have this name: rename it, or take it through **kwargs"
    message = f"the function does not take {name!r}, which the manifest lists"
    return Finding(ManifestPlace((*PROPERTIES, name), "key"), message, hint)


@rule("ST403")
def parameter_not_required(case: AgreementCase) -> Iterator[Finding]:
    """A parameter without default is not required by the manifest.

    When a model leaves the argument out, the call fails with a TypeError. Give the parameter a
    default, or put its property into ``required``. A parameter that is annotated ``Optional[T]``
    or ``T | None`` needs neither: it receives None. Arguments are passed by keyword, one for each
    property and not in one dictionary, and the function is no method, so that it has no ``self``.
    """
    for each in case.of("not_sent"):
        place = ModulePlace(case.name, each.name)
        if each.name == case.bundle:
            message = f"the function takes one {each.name!r}, but arguments come by keyword"
            yield Finding(place, message, f"write: {case.definition}")
        elif each.name in {"self", "cls"} and each.name not in case.properties:
            message = f"the parameter {each.name!r} is a method's, and this is a function"
            yield Finding(place, message, f"remove {each.name!r}")
        elif each.name in case.properties:
            message = f"the parameter {each.name!r} has no default, but is not required"
            yield Finding(place, message, "add it to 'required', or give it a default")
        else:
            absent = [name for name in case.properties if name not in case.keywords]
            message = f"the parameter {each.name!r} is not in the manifest and has no default"
            hint = did_you_mean(each.name, absent) or "add a property, or give it a default"
            yield Finding(place, message, hint)


@rule("ST405")
def positional_only_parameter(case: AgreementCase) -> Iterator[Finding]:
    """A parameter is positional-only.

    Arguments are passed by keyword, so ``def f(a, /)`` can never receive ``a``. Remove the
    slash. One with a default that the manifest does not list does no harm.
    """
    for each in case.of("positional_only"):
        message = f"the parameter {each.name!r} is positional-only"
        place = ModulePlace(case.name, each.name)
        yield Finding(place, message, "remove the '/': arguments are passed by keyword")


@rule("ST406", "warning")
def star_arguments(case: AgreementCase) -> Iterator[Finding]:
    """The function has ``*args``.

    They are always empty, because arguments are passed by keyword. Remove them, or make them an
    array parameter.
    """
    for each in case.of("star"):
        message = f"'*{each.name}' never receives anything"
        hint = "remove it, or make it a parameter of type list"
        yield Finding(ModulePlace(case.name, each.name), message, hint)


@rule("ST407", "warning")
def default_mismatch(case: AgreementCase) -> Iterator[Finding]:
    """The function's default is not the manifest's.

    The manifest's is filled in, so the function's is never used: the code does not do what it
    says. Make them equal, or leave the manifest's out. A default of None beside another in the
    manifest is taken as "not given" and left alone.
    """
    for each in case.of("default"):
        if _fits(case, each):
            message = (
                f"{each.name!r} is {each.own!r:.60} by default, {shown(each.said)} in the manifest"
            )
            yield Finding(case.place(each), message, "make them equal")


def _fits(case: AgreementCase, difference: Difference) -> bool:
    """Tell whether the manifest's default is filled in at all; see ST310."""
    path, schema = difference.path[1:-1], case.parameters
    for key in path:
        schema = schema[key]  # type: ignore[index]  # a path may lead through lists
    return not problems_at(SchemaNode(path, schema, case.parameters, ()), difference.said)


@rule("ST408", "warning")
def annotation_mismatch(case: AgreementCase) -> Iterator[Finding]:
    """A parameter's annotation and the type of its property exclude each other.

    One of the two is wrong: a function that expects ``int`` would get a string. So it is if the
    manifest admits values that the annotation does not: a number for an ``int``, a value that is
    not in the ``Enum``, a member that the dataclass lacks, and likewise within lists, objects,
    alternatives and whatever a ``$ref`` leads to. What an annotation does not say is not compared;
    what it says and the manifest leaves out, such as a format or members that are required, counts
    where a call would refuse the argument, and so does null beside other types: ``sovl-tools sync``
    adds most of what is left out. Where the manifest names outright what a call refuses, see ST412.
    """
    for each in case.differences:
        # it may be meant, where the function looks at the value itself
        is_passed_on = each.kind in {"omitted", "null"} and argument_of(each) not in case.converted
        words = None if case.is_refused(each) or is_passed_on else _contradiction(case, each)
        if words is not None:
            message, advice = words
            place: Place = _place_in_manifest(each)
            if _excludes_annotation(case, each):
                place = ModulePlace(case.name, each.name)
            yield Finding(place, message, advice)


def _excludes_annotation(case: AgreementCase, each: Difference) -> bool:
    """Tell whether no value of the property can be of the parameter's annotated type."""
    return (
        each.kind == "types" and bool(case.annotations.get(each.name)) and _exclude_each_other(each)
    )


def _place_in_manifest(each: Difference) -> ManifestPlace:
    return ManifestPlace(each.path, "key" if each.kind == "superfluous" else "value")


def _exclude_each_other(each: Difference) -> bool:
    return exclude_each_other(numeric(each.said), numeric(each.own))


def _listed(types: Iterable[str]) -> str:
    return one_of(map(repr, types))


PRUNE = "or remove it: sovl-tools sync --prune"


_BY_HAND = {"type", "additionalProperties"}


def _contradiction(of: AgreementCase, each: Difference) -> tuple[str, str] | None:
    """Return what is said of a difference in values, and advised; None of any other."""
    match each.kind:
        case "types" if _excludes_annotation(of, each):
            text = of.annotations[each.name]
            message = f"{each.name!r} is annotated {text}, but its type is {_listed(each.said)}"
            advice = "make them agree"
        case "types":
            said, own = _listed(each.said), _listed(each.own)
            message = f"{each.name!r} is {said} in the manifest, but the function takes {own}"
            advice = f"write {own} in the manifest, or change the annotation"
        case "alternative":
            message = f"{each.name!r} is here none of the alternatives that the function takes"
            advice = f"write {_listed(each.own)} in the manifest, or change the annotation"
        case "value":
            message = f"{shown(each.said)} is no value that the function takes for {each.name!r}"
            known = one_of(map(shown, each.own)) if each.own else ""
            advice = f"the function takes {known}; add it there, {PRUNE}"
            advice = advice if known else "correct it, or leave it out"
        case "bounds":
            keyword, (other, bound) = each.path[-1], each.own
            message = f"{each.name!r} has the {keyword} {shown(each.said)}, but {other}"
            message, advice = f"{message} {shown(bound)} to the function", "make them agree"
        case "superfluous":
            message = f"{f'{each.name}.{each.said}'!r} is not taken by the function"
            advice = f"add it there, {PRUNE}"
        case "missing":
            whole = f"{each.name}.{each.own}"
            message = f"the function needs {whole!r}, which the manifest lacks"
            advice = "require it; if others share the definition, give this place its own"
        case "omitted":
            keyword, limit = each.own
            message = f"the function takes {each.name!r} only with {keyword!r}: {shown(limit)}"
            advice = "write that in the manifest: sovl-tools sync"
            advice = "write that in the manifest" if keyword in _BY_HAND else advice
        case "null":
            message = f"{each.name!r} may be null in the manifest, but the function refuses that"
            advice = f"admit only {_listed(each.own)}, or add '| None' to the annotation"
        case _:
            return None
    return message, advice


@rule("ST412")
def refused_values(case: AgreementCase) -> Iterator[Finding]:
    """The manifest names values that the function's annotation refuses at each call.

    Arguments become instances of ``date``, ``Enum``, dataclasses and the like before the function
    runs, and what doesn't fit is refused: a number for a ``date``, a value that the ``Enum`` lacks,
    or that is no date, a bound that contradicts the function's, a member that the dataclass lacks,
    or an object that can't have one that it needs. A model follows the
    manifest and is refused. The help names the parameter's line; make the two agree.
    """
    for each in case.differences:
        words = _contradiction(case, each) if case.is_refused(each) else None
        if words is not None:
            other = ModulePlace(case.name, argument_of(each))
            yield Finding(_place_in_manifest(each), *words, other)


@rule("ST409")
def not_a_function(case: AgreementCase) -> Iterator[Finding]:
    """The tool's name is bound to a class or to something that can't be called.

    A class is refused although it can be called: its instances are no results that a model can
    read. Bind the name to a function; a callable object, a ``functools.partial``, a lambda and
    a decorated function will do.
    """
    signature = case.interface.signature
    if signature is not None and not signature.is_function:
        what = "a class" if signature.shape == "class" else "nothing that can be called"
        yield Finding(ModulePlace(case.name), f"{case.name!r} is {what}", "make it a function")


@rule("ST410", "warning")
def open_without_keywords(case: AgreementCase) -> Iterator[Finding]:
    """The manifest invites further arguments that the function can't take.

    ``additionalProperties`` is true or a schema, so that a model may send names of its own, but
    the function has no ``**kwargs``. Such arguments are refused at the call. Add ``**kwargs``,
    or set ``additionalProperties`` to false.
    """
    for _ in case.of("open"):
        place = ManifestPlace(("parameters", "additionalProperties"), "key")
        message = "further arguments are allowed, but the function takes none"
        yield Finding(place, message, "add **kwargs to the function, or set it to false")


@rule("ST411")
def invalid_context_parameter(case: AgreementCase) -> Iterator[Finding]:
    """A parameter annotated ``ToolContext`` can't receive it.

    The ``Tooler`` passes the context, by keyword, and is no part of the schema: a
    model must not see or send it. Take the property of that name out of the manifest, or rename
    one of the two; remove a ``/`` that makes the parameter positional-only.
    """
    for _, name, parameter, *_ in case.of("context"):
        if parameter and parameter.kind not in BY_KEYWORD:
            message = f"the context {name!r} can't be passed by keyword"
            yield Finding(ModulePlace(case.name, name), message, "make it a plain parameter")
        else:
            message = f"the manifest lists {name!r}, which receives the ToolContext"
            place = ManifestPlace((*PROPERTIES, name), "key")
            yield Finding(place, message, "remove the property, or rename one of the two")


@rule("ST414")
def unfilled_marker(case: AgreementCase) -> Iterator[Finding]:
    """A parameter's default is a marker of a framework, which no one replaces by a value.

    ``Depends(…)`` and ``Query(…)`` of FastAPI, ``Option(…)`` of Typer and ``field(…)`` of
    dataclasses mean something only to their own framework: a call that leaves the argument out
    would pass the marker itself. Write a plain default. For a description and bounds write
    ``Annotated[int, Field(description="…", ge=1)]``; ``Field(…)`` of pydantic as a default works.
    """
    for each in case.signature.parameters:
        marker = marker_of(each.default)
        if marker is not None:
            message = f"the default of {each.name!r} is a {marker}, which no one fills in"
            yield Finding(ModulePlace(case.name, each.name), message, "write a plain default")


@rule("ST415", "warning")
def unreadable_annotation(case: AgreementCase) -> Iterator[Finding]:
    """A parameter's annotation can't be read, so its arguments aren't converted.

    It names something that isn't there when the tool runs: an import under ``if TYPE_CHECKING:``,
    or a typo in quotes. The function gets what JSON has, such as text for a date. Import the name
    where the tool runs, or correct it.
    """
    is_imported = case.interface.function is not None
    for each in case.signature.parameters if is_imported else ():
        annotation = each.annotation
        is_unknown = annotation.value is HIDDEN and not annotation.is_context
        if is_unknown and each.name in case.properties:
            message = f"the annotation {annotation.text!r} of {each.name!r} can't be read"
            hint = "import its names where the tool runs: arguments aren't converted to it"
            yield Finding(ModulePlace(case.name, each.name), message, hint)


RULES = (
    missing_function,
    not_a_function,
    required_without_parameter,
    parameter_not_required,
    property_without_parameter,
    positional_only_parameter,
    star_arguments,
    default_mismatch,
    annotation_mismatch,
    refused_values,
    open_without_keywords,
    invalid_context_parameter,
    unfilled_marker,
    unreadable_annotation,
)
