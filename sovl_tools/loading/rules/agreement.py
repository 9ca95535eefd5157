"""ST4xx: the code against the manifest. The rules take a signature from any source."""

from __future__ import annotations

from collections.abc import Iterator
from keyword import iskeyword

from sovl_tools.annotations.hints import HIDDEN, marker_of
from sovl_tools.loading.interface import Interface
from sovl_tools.loading.rules.agreement_case import AgreementCase
from sovl_tools.loading.rules.values import annotation_mismatch, default_mismatch, refused_values
from sovl_tools.model.diagnostic import (
    Finding,
    ManifestPlace,
    ModulePlace,
    Verdict,
    ask,
    rule,
)
from sovl_tools.model.folder import Manifest
from sovl_tools.model.suggestion import did_you_mean, nearest
from sovl_tools.signature.agreement import (
    PARAMETERS,
    Difference,
    converted,
)
from sovl_tools.signature.signature import BY_KEYWORD, Signature


def contradictions(manifest: Manifest, interface: Interface) -> list[Verdict]:
    """Return the problems of the values that a manifest admits."""
    names = converted(interface.signature or Signature())
    case = AgreementCase(manifest.name, manifest.parameters, interface, converted=names)
    return ask(RULES, case.with_values())


def disagreements(manifest: Manifest, interface: Interface) -> list[Verdict]:
    """Return the problems between a manifest, whose parameters are a schema, and its module."""
    return ask(RULES, AgreementCase.between(manifest, interface))


_MOST_NAMES = 6
PRUNING = "sovl-tools sync --prune"


@rule("ST401")
def missing_function(case: AgreementCase) -> Iterator[Finding]:
    """The module has no function of the tool's name.

    A call runs the function that is called like the folder. It can be sync or async, a
    generator (its items become a list), a lambda bound to the name, a ``functools.partial``, a
    decorated function or any other callable object. A name that the module imports counts.
    Rename the function, or bind the name.
    """
    if case.interface.signature is None:
        near = nearest(case.name, case.interface.names)
        hint = f"rename {near!r} to {case.name!r}" if near else f"add: def {case.name}(…): …"
        others = [each for each in case.interface.names if not each.startswith("_")]
        if others and not near:
            hint += f"; the module has {', '.join(map(repr, others[:_MOST_NAMES]))}"
        yield Finding(ModulePlace(near), f"the module has no function {case.name!r}", hint)


@rule("ST402")
def required_without_parameter(case: AgreementCase) -> Iterator[Finding]:
    """A required property isn't a parameter of the function.

    Every call would fail with a TypeError, because the argument is always sent. Add the
    parameter, or remove the property from the manifest. ``**kwargs`` takes everything. Functions
    whose decorator takes ``**kwargs`` aren't checked: it can pass other arguments on.
    """
    # a function that takes all of them in one dictionary gets a better message
    for each in case.of("required_not_taken") if case.bundle is None else ():
        yield _not_taken(case, each)


@rule("ST404")
def property_without_parameter(case: AgreementCase) -> Iterator[Finding]:
    """An optional property isn't a parameter of the function.

    A model can send it, and then the call fails with a TypeError. Add the parameter with a
    default, or remove the property from the manifest. A property that is a Python keyword, such
    as ``from`` or ``class``, can only be taken through ``**kwargs``.
    """
    # a function that takes all of them in one dictionary gets a better message
    for each in case.of("optional_not_taken") if case.bundle is None else ():
        yield _not_taken(case, each)


def _not_taken(case: AgreementCase, each: Difference) -> Finding:
    name = each.name
    hint = did_you_mean(name, case.spare)
    is_at_top = each.path == (*PARAMETERS, "properties", name)
    how = f": {PRUNING}" if is_at_top else ""
    hint = hint or f"add a parameter {name!r}, or remove the property{how}"
    if iskeyword(name) or not name.isidentifier():
        hint = "no parameter can have this name: rename it, or take it through **kwargs"
    message = f"the function does not take {name!r}, which the manifest lists"
    return Finding(ManifestPlace(each.path, "key"), message, hint)


@rule("ST403")
def parameter_not_required(case: AgreementCase) -> Iterator[Finding]:
    """A parameter without default is not required by the manifest.

    When a model omits the argument, the call fails with a TypeError. Give the parameter a
    default, or put its property into ``required``. A parameter that is annotated ``Optional[T]``
    or ``T | None`` needs neither: it receives None. Arguments are passed by keyword, one for each
    property and not in one dictionary, and the function isn't a method, so that it has no ``self``.
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
    slash. An unlisted one with a default is fine.
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


@rule("ST409")
def not_a_function(case: AgreementCase) -> Iterator[Finding]:
    """The tool's name is bound to a class or to something that can't be called.

    A class is rejected although it can be called: its instances aren't results that a model can
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

    ``additionalProperties`` is true or a schema, or there are ``patternProperties``, so a model may
    send other names, but the function has no ``**kwargs``. Calls with such arguments are rejected.
    Add ``**kwargs``, or set ``additionalProperties`` to false.
    """
    for each in case.of("open"):
        message = "further arguments are allowed, but the function takes none"
        is_plain = each.path[-1] == "additionalProperties"
        advice = (
            f"add **kwargs to the function, or {'set it to false' if is_plain else 'remove it'}"
        )
        yield Finding(ManifestPlace(each.path, "key"), message, advice)


@rule("ST411")
def invalid_context_parameter(case: AgreementCase) -> Iterator[Finding]:
    """A parameter annotated ``ToolContext`` can't receive it.

    The ``Tooler`` passes the context, by keyword, and isn't a part of the schema: a
    model must not see or send it. Take the property of that name out of the manifest, or rename
    one of the two; remove a ``/`` that makes the parameter positional-only.
    """
    for _, name, parameter, *_ in case.of("context"):
        if parameter and parameter.kind not in BY_KEYWORD:
            message = f"the context {name!r} can't be passed by keyword"
            yield Finding(ModulePlace(case.name, name), message, "make it a plain parameter")
        else:
            message = f"the manifest lists {name!r}, which receives the ToolContext"
            place = ManifestPlace((*PARAMETERS, *case.properties[name]), "key")
            yield Finding(place, message, "remove the property, or rename one of the two")


@rule("ST414")
def unfilled_marker(case: AgreementCase) -> Iterator[Finding]:
    """A parameter's default is a marker of a framework, which no one replaces by a value.

    ``Depends(…)`` and ``Query(…)`` of FastAPI, ``Option(…)`` of Typer and ``field(…)`` of
    dataclasses have a meaning only in their own framework: a call that omits the argument
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
    or a typo in quotes. The function gets JSON's values, such as text for a date. Import the name
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
