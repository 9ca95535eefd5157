"""ST4xx: the code against the manifest. The rules take a signature and do not know its maker."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from keyword import iskeyword
from typing import Any, NamedTuple

from sovl_tools.model.diagnostic import Finding, ManifestPlace, ModulePlace, rule
from sovl_tools.model.document import JSON
from sovl_tools.model.interface import REQUIRED, Interface, Parameter, Signature
from sovl_tools.model.manifest import Manifest
from sovl_tools.model.schemanodes import SchemaNode
from sovl_tools.model.suggestion import did_you_mean, nearest
from sovl_tools.schema import fit
from sovl_tools.validation.wording import one_of, shown

_BY_KEYWORD = frozenset({"positional_or_keyword", "keyword_only"})
_COMPARABLE = frozenset({str, int, float, bool, list, tuple, dict})
_PROPERTIES = ("parameters", "properties")


class AgreementCase(NamedTuple):
    """A manifest's arguments and the signature that has to take them.

    ``signature`` is that of the function, without those of its parameters that receive a
    ``ToolContext``; without any if there is no function.
    """

    name: str
    parameters: dict[str, JSON]
    properties: dict[str, JSON]
    required: frozenset[str]
    interface: Interface
    signature: Signature

    @classmethod
    def of(cls, manifest: Manifest, interface: Interface) -> AgreementCase:
        """Return the case of a manifest whose parameters passed their checks."""
        parameters = manifest.parameters
        signature = interface.signature or Signature(shape="value")
        known = tuple(each for each in signature.parameters if not each.annotation.is_context)
        return cls(
            manifest.name,
            parameters,
            parameters["properties"],
            frozenset(parameters.get("required", ())),
            interface,
            signature._replace(parameters=known),
        )

    @property
    def keywords(self) -> dict[str, Parameter]:
        """The parameters that can be given by keyword."""
        return {each.name: each for each in self.signature.parameters if each.kind in _BY_KEYWORD}

    def refused(self, names: AbstractSet[str]) -> list[str]:
        """Return those of the names that the function does not take, in the manifest's order."""
        if self.signature.takes_any_keyword or self.signature.shape in {"value", "class"}:
            return []
        signature = self.interface.signature or self.signature
        taken = {*self.keywords, *signature.contexts}
        positional = {p.name for p in self.signature.parameters if p.kind == "positional_only"}
        return [
            name
            for name in self.properties
            if name in names and name not in taken and name not in positional
        ]


@rule("ST401")
def no_function(case: AgreementCase) -> Iterator[Finding]:
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
def required_not_taken(case: AgreementCase) -> Iterator[Finding]:
    """A required property is no parameter of the function.

    Every call would fail with a TypeError, because the argument is always sent. Add the
    parameter, or take the property out of the manifest. ``**kwargs`` takes everything. Of a
    decorated function with ``__wrapped__`` the wrapped function's parameters count.
    """
    for name in case.refused(case.required):
        yield _not_taken(case, name)


@rule("ST404")
def optional_not_taken(case: AgreementCase) -> Iterator[Finding]:
    """An optional property is no parameter of the function.

    A model may send it, and then the call fails with a TypeError. Add the parameter with a
    default, or take the property out of the manifest. A property that is a Python keyword, such
    as ``from`` or ``class``, can only be taken through ``**kwargs``.
    """
    for name in case.refused(case.properties.keys() - case.required):
        yield _not_taken(case, name)


def _not_taken(case: AgreementCase, name: str) -> Finding:
    spare = [each for each in case.keywords if each not in case.properties]
    hint = did_you_mean(name, spare) or f"add a parameter {name!r}, or remove the property"
    if iskeyword(name) or not name.isidentifier():
        hint = "no parameter can have this name: rename it, or take it through **kwargs"
    message = f"the function does not take {name!r}, which the manifest lists"
    return Finding(ManifestPlace((*_PROPERTIES, name), "key"), message, hint)


@rule("ST403")
def parameter_not_sent(case: AgreementCase) -> Iterator[Finding]:
    """A parameter without default is not required by the manifest.

    When a model leaves the argument out, the call fails with a TypeError. Give the parameter a
    default, or put its property into ``required``. A parameter that is annotated ``Optional[T]``
    or ``T | None`` needs neither: it receives None.
    """
    for parameter in case.keywords.values():
        if parameter.default is REQUIRED and parameter.name not in case.required:
            if parameter.annotation.optional and parameter.name in case.properties:
                continue
            yield _not_sent(case, parameter)


def _not_sent(case: AgreementCase, parameter: Parameter) -> Finding:
    place = ModulePlace(case.name, parameter.name)
    if parameter.name not in case.properties:
        absent = [name for name in case.properties if name not in case.keywords]
        message = f"the parameter {parameter.name!r} is not in the manifest and has no default"
        hint = did_you_mean(parameter.name, absent) or "add a property, or give it a default"
        return Finding(place, message, hint)
    message = f"the parameter {parameter.name!r} has no default, but is not required"
    return Finding(place, message, "add it to 'required', or give it a default")


@rule("ST405")
def positional_only(case: AgreementCase) -> Iterator[Finding]:
    """A parameter is positional-only.

    Arguments are passed by keyword, so ``def f(a, /)`` can never receive ``a``. Remove the
    slash. One with a default that the manifest does not list does no harm.
    """
    for parameter in case.signature.parameters:
        harmless = parameter.default is not REQUIRED and parameter.name not in case.properties
        if parameter.kind == "positional_only" and not harmless:
            message = f"the parameter {parameter.name!r} is positional-only"
            place = ModulePlace(case.name, parameter.name)
            yield Finding(place, message, "remove the '/': arguments are passed by keyword")


@rule("ST406", "warning")
def star_arguments(case: AgreementCase) -> Iterator[Finding]:
    """The function has ``*args``.

    They are always empty, because arguments are passed by keyword. Remove them, or make them an
    array parameter.
    """
    for parameter in case.signature.parameters:
        if parameter.kind == "var_positional":
            message = f"'*{parameter.name}' never receives anything"
            hint = "remove it, or make it a parameter of type list"
            yield Finding(ModulePlace(case.name, parameter.name), message, hint)


@rule("ST407", "warning")
def default_differs(case: AgreementCase) -> Iterator[Finding]:
    """The function's default is not the manifest's.

    The manifest's is filled in, so the function's is never used: the code does not do what it
    says. Make them equal, or leave the manifest's out. A default of None beside another in the
    manifest is taken as "not given" and left alone.
    """
    for name, parameter in case.keywords.items():
        schema = case.properties.get(name)
        if not isinstance(schema, dict) or "default" not in schema:
            continue
        own = parameter.default
        if type(own) in _COMPARABLE and _differs(own, schema["default"]) and _fits(case, name):
            message = (
                f"{name!r} is {own!r:.60} by default, {shown(schema['default'])} in the manifest"
            )
            yield Finding(ModulePlace(case.name, name), message, "make them equal")


def _differs(own: Any, manifest: JSON) -> bool:
    """Compare as JSON does: 1 is not true, a tuple is an array."""
    if isinstance(own, tuple):
        own = list(own)
    return not (own == manifest and isinstance(own, bool) == isinstance(manifest, bool))


def _fits(case: AgreementCase, name: str) -> bool:
    """Tell whether the manifest's default is filled in at all; see ST310."""
    schema = case.properties[name]
    node = SchemaNode(("properties", name), schema, case.parameters, ())
    return not fit.problems(node, schema["default"])


@rule("ST408", "warning")
def annotation_contradicts(case: AgreementCase) -> Iterator[Finding]:
    """A parameter's annotation and the type of its property exclude each other.

    One of the two is wrong: a function that expects ``int`` would get a string. Only plain
    annotations are compared (``str``, ``int``, ``float``, ``bool``, ``list``, ``dict``,
    ``Optional``, unions and ``Literal`` of them); an integer is also a number.
    """
    for name, parameter in case.keywords.items():
        declared, admitted = _declared(case.properties.get(name)), parameter.annotation.types
        if declared and admitted and not _overlap(declared, admitted):
            types = one_of(repr(each) for each in sorted(declared))
            message = f"{name!r} is annotated {parameter.annotation.text}, but its type is {types}"
            yield Finding(ModulePlace(case.name, name), message, "make them agree")


def _declared(schema: JSON) -> frozenset[str]:
    kinds = schema.get("type", ()) if isinstance(schema, dict) else ()
    return frozenset({kinds} if isinstance(kinds, str) else kinds)


def _overlap(declared: frozenset[str], admitted: frozenset[str]) -> bool:
    numeric = {"integer", "number"}
    return not declared.isdisjoint(admitted) or not (
        declared.isdisjoint(numeric) or admitted.isdisjoint(numeric)
    )


@rule("ST409")
def not_a_function(case: AgreementCase) -> Iterator[Finding]:
    """The tool's name is bound to a class or to something that can't be called.

    A class is refused although it can be called: its instances are no results that a model can
    read. Bind the name to a function; a callable object, a ``functools.partial``, a lambda and
    a decorated function will do.
    """
    if case.interface.signature is not None and case.signature.shape in {"class", "value"}:
        what = "a class" if case.signature.shape == "class" else "nothing that can be called"
        yield Finding(ModulePlace(case.name), f"{case.name!r} is {what}", "make it a function")


@rule("ST410", "warning")
def open_but_not_taken(case: AgreementCase) -> Iterator[Finding]:
    """The manifest invites further arguments that the function can't take.

    ``additionalProperties`` is true or a schema, so that a model may send names of its own, but
    the function has no ``**kwargs``. Such arguments are refused at the call. Add ``**kwargs``,
    or set ``additionalProperties`` to false.
    """
    is_open = case.parameters.get("additionalProperties", False) is not False
    if is_open and case.signature.shape == "function" and not case.signature.takes_any_keyword:
        place = ManifestPlace(("parameters", "additionalProperties"), "key")
        message = "further arguments are allowed, but the function takes none"
        yield Finding(place, message, "add **kwargs to the function, or set it to false")


@rule("ST411")
def unfit_context(case: AgreementCase) -> Iterator[Finding]:
    """A parameter annotated ``ToolContext`` can't receive it.

    The context is passed by whoever runs the tool, by keyword, and is no part of the schema: a
    model must not see or send it. Take the property of that name out of the manifest, or rename
    one of the two; remove a ``/`` that makes the parameter positional-only.
    """
    whole = case.interface.signature or Signature()
    for parameter in whole.parameters:
        if parameter.annotation.is_context and parameter.kind not in _BY_KEYWORD:
            message = f"the context {parameter.name!r} can't be passed by keyword"
            yield Finding(
                ModulePlace(case.name, parameter.name), message, "make it a plain parameter"
            )
        elif parameter.annotation.is_context and parameter.name in case.properties:
            message = f"the manifest lists {parameter.name!r}, which receives the ToolContext"
            place = ManifestPlace((*_PROPERTIES, parameter.name), "key")
            yield Finding(place, message, "remove the property, or rename one of the two")


RULES = (
    no_function,
    not_a_function,
    required_not_taken,
    parameter_not_sent,
    optional_not_taken,
    positional_only,
    star_arguments,
    default_differs,
    annotation_contradicts,
    open_but_not_taken,
    unfit_context,
)
