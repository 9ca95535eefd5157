"""``@tool``, and the definitions in whatever ``register`` takes, also of methods that are bound."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields, replace
from functools import partial
from types import FunctionType
from typing import Any, NamedTuple, TypeVar, overload

from sovl_tools.annotations.docstrings import Documentation, documentation_of
from sovl_tools.authoring.aitool import AITool, definition_of_instance
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.document import JSON, copied, kind
from sovl_tools.model.errors import InferenceError, UnresolvedReferenceError
from sovl_tools.model.folder import FIELDS, SECTIONS
from sovl_tools.model.former_names import refuse_attribute
from sovl_tools.model.suggestion import did_you_mean
from sovl_tools.schema.applicators import kinds, values_of
from sovl_tools.schema.dynamic import is_dynamic, stated
from sovl_tools.schema.engine import problems_at
from sovl_tools.schema.problem import describe, explained
from sovl_tools.schema.subschemas import SchemaNode
from sovl_tools.signature.inference import Inference, infer, name_of


class Options(NamedTuple):
    """The arguments of ``tool``; what is None or empty is inferred or omitted.

    Attributes:
        name: the tool's name.
        description: what the tool does and when to use it.
        param_descriptions: descriptions by parameter.
        params: JSON Schema fragments by parameter, laid over the inferred ones. A value in one, or
            a whole one, can be a function; None hides a parameter from the model.
        required: names of the parameters that must be given.
        fields: further fields of ToolDefinition.
    """

    name: str | None = None
    description: str | None = None
    param_descriptions: Mapping[str, Any] = {}
    params: Mapping[str, Mapping[str, JSON] | Callable[..., Any] | None] = {}
    required: Sequence[str] | None = None
    fields: Mapping[str, Any] = {}


NO_OPTIONS = Options()


def infer_definition(function: Callable[..., Any], options: Options) -> ToolDefinition:
    """Return the definition of a function; of a method, without its first parameter.

    Raises:
        InferenceError: its parameters can't be expressed, or an option names none of them.
        UnresolvedReferenceError: an annotation names what is not there yet.
    """
    documentation = documentation_of(function)
    inference = infer(
        function,
        is_method=is_method(function),
        documentation=documentation,
        described={
            name for name, each in options.params.items() if _is_whole(each) or _is_listing(each)
        },
    )
    parameters = _parameters(function, options, inference)
    remarks: list[tuple[str | None, str]] = []
    # Said to the author as a finding, because the tool works without.
    if not (options.description or documentation.description):
        remarks.append((None, "has neither a docstring nor a description"))
    for name, words in inference.warnings:
        if name not in options.params and name in parameters["properties"]:
            remarks.append((name, words))
    return ToolDefinition(
        **_head(function, options, documentation),
        parameters=parameters,
        types=inference.types,
        remarks=tuple(remarks),
    )


def _head(function: Any, options: Options, documentation: Documentation) -> dict[str, Any]:
    name = options.name or _name_of(function)
    fields: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value
        for key, value in options.fields.items()
    }
    output = fields.get("output_schema")
    if output is not None and documentation.returns is not None and "description" not in output:
        fields["output_schema"] = {**output, "description": documentation.returns}
    return {
        "name": name,
        "description": options.description or documentation.description or f"Tool: {name}",
        "source": f"{getattr(function, '__module__', None) or '?'}.{name_of(function)}",
        "returns": documentation.returns,
        "function": function,
        "is_dynamic": is_dynamic(options.params),
        **fields,
    }


def _name_of(function: Any) -> str:
    """Return the name of a callable: of a partial that of its function, of an object its class."""
    named = function.func if isinstance(function, partial) else function
    return str(
        getattr(function, "__name__", None) or getattr(named, "__name__", type(named).__name__)
    )


def is_method(function: Any) -> bool:
    """Return whether a function, or what it wraps, is written in a class and takes the instance."""
    # By its name and first parameter: nothing else tells a function of a class from others.
    try:
        inner = inspect.unwrap(function) if isinstance(function, FunctionType) else None
    except ValueError:  # they wrap each other in a circle
        inner = function
    if not isinstance(inner, FunctionType) or not inner.__code__.co_argcount:
        return False
    outside, first = inner.__qualname__.rpartition(".")[0], inner.__code__.co_varnames[0]
    return first in {"self", "cls"} and bool(outside) and not outside.endswith("<locals>")


def _parameters(function: Any, options: Options, inference: Inference) -> dict[str, JSON]:
    parameters: dict[str, JSON] = copied(inference.parameters)
    unknown = options.params.keys() - parameters["properties"].keys()
    is_open = "additionalProperties" in parameters
    if unknown and (is_open or options.fields.get("preprocess") is not None):
        # The schema is of the arguments that a model sends, of which ``params`` has the names. With
        # ``**kwargs`` the function has the others as well; otherwise what it has next to them is
        # made of them in ``preprocess``. A name is required if ``required`` says so.
        known = parameters["properties"]
        names = {**(known if is_open else {}), **options.params}
        parameters["properties"] = {name: known.get(name, {}) for name in names}
        parameters["required"] = [name for name in parameters["required"] if name in names]
    properties = parameters["properties"]
    for option in ("param_descriptions", "params", "required"):
        for name in getattr(options, option) or ():
            if name not in properties:
                message = f"{option} names no parameter"
                advice = did_you_mean(name, properties)
                raise InferenceError(name_of(function), name, message, advice)
    for name, text in options.param_descriptions.items():
        if not isinstance(text, str):
            message = f"its description must be a string, not {text!r:.80}"
            raise InferenceError(name_of(function), name, message)
        properties[name] = {**properties[name], "description": text}
    for name, fragment in options.params.items():
        if fragment is None:
            _hide(function, name, parameters, options, inference)
        elif isinstance(fragment, Mapping):
            properties[name] = _laid_over(properties[name], fragment)
        else:
            properties[name] = fragment  # a function, which makes the whole of it
    parameters["required"] = _required(function, options, parameters, inference)
    return parameters


def _laid_over(inferred: dict[str, JSON], fragment: Mapping[str, Any]) -> dict[str, JSON]:
    """Return a fragment of a schema with what it keeps of the inferred one.

    One that says what a value is replaces all of it but what explains it. If it only lists the
    values, and they have the inferred type, it keeps that as well.
    """
    kept = inferred
    if _is_whole(fragment) or _is_listing(fragment):
        kept = {key: each for key, each in inferred.items() if key in _EXPLAINING}
        # what a function will list is taken to have the inferred type
        values = [] if is_dynamic(fragment) else values_of(fragment) or []
        types = kinds(inferred, {}) if "type" in inferred and not _is_whole(fragment) else None
        if types is not None and {kind(each) for each in values} <= types:
            kept = {"type": inferred["type"], **kept}
    return {**kept, **copied(dict(fragment))}


def _hide(
    function: Any,
    name: str,
    parameters: dict[str, JSON],
    options: Options,
    inference: Inference,
) -> None:
    """Leave a parameter out of the schema, because the function or ``preprocess`` supplies it.

    Raises:
        InferenceError: nothing supplies it.
    """
    is_needed = name in inference.parameters["required"]
    if is_needed and options.fields.get("preprocess") is None:
        message = "it is hidden, but has no default, so it would always be missing"
        advice = "give it a default, or supply it in a preprocess"
        raise InferenceError(name_of(function), name, message, advice)
    del parameters["properties"][name]
    parameters["required"] = [each for each in parameters["required"] if each != name]


def _required(
    function: Any, options: Options, parameters: dict[str, JSON], inference: Inference
) -> list[str]:
    """Return what must be given, which is not a parameter with a default in its fragment.

    Raises:
        InferenceError: a call may omit what nothing supplies.
    """
    supplied = {
        name
        for name, fragment in options.params.items()
        if isinstance(fragment, Mapping) and "default" in fragment
    }
    for name in filter(supplied.__contains__, parameters["required"]):
        _check_default(function, name, parameters["properties"][name])
    required = [name for name in parameters["required"] if name not in supplied]
    if options.required is not None:
        required = list(options.required)
    if options.fields.get("preprocess") is None:
        for name in inference.parameters["required"]:
            if name not in required and name not in supplied:
                message = "has no default and is not required, so it would always be missing"
                advice = "give it a default, require it, or supply it in a preprocess"
                raise InferenceError(name_of(function), name, message, advice)
    return required


def _check_default(function: Any, name: str, schema: Mapping[str, JSON]) -> None:
    """Reject a default that breaks its own schema, so that nothing would be supplied."""
    if is_dynamic(schema):  # known when the schema is asked for
        return
    default = schema["default"]
    for problem in explained(problems_at(SchemaNode((), dict(schema), dict(schema), ()), default)):
        message = f"its default {describe(problem)}"
        raise InferenceError(name_of(function), name, message, "give it another default")


def _is_whole(fragment: Any) -> bool:
    """Return whether a fragment says what a value is, whatever the annotation says."""
    return not isinstance(fragment, Mapping) or not _WHOLE.isdisjoint(fragment)


def _is_listing(fragment: Any) -> bool:
    return isinstance(fragment, Mapping) and not {"enum", "const"}.isdisjoint(fragment)


_WHOLE = frozenset({"type", "anyOf", "allOf", "oneOf", "$ref"})
"""Keys that say what a value is: a fragment with one of them says it instead of the annotation."""
_EXPLAINING = frozenset({"description", "title", "default"})


def bind_definition(
    definition: ToolDefinition, method: Callable[..., Any], instance: object
) -> ToolDefinition:
    """Return the definition of a method with what the functions in its schema are given, or None.

    What can't be inferred yet is reported when someone asks for the parameters.
    """
    look: Any = vars(definition).get(_LOOK)
    if look is None:
        return replace(definition, function=method, instance=instance)
    made = PendingDefinition.after(definition, look, function=method, instance=instance)
    # Now, so that errors are found at the registration where that is possible.
    with suppress(InferenceError):
        _ = made.parameters
    return made


class PendingDefinition(ToolDefinition):
    """A definition whose parameters are inferred when someone asks for them."""

    @classmethod
    def after(
        cls, definition: ToolDefinition, look: Callable[[], ToolDefinition], **changes: Any
    ) -> PendingDefinition:
        """Return a changed definition; what is inferred is that of the one that ``look`` makes."""
        known = {key: each for key, each in vars(definition).items() if key not in _INFERRED}
        # Without __init__, which would set what must be inferred, so that no one infers it.
        pending = object.__new__(cls)
        vars(pending).update(known, **{_LOOK: look}, **changes)
        return pending

    def __getattr__(self, name: str) -> Any:
        """Infer what is missing.

        Raises:
            UnresolvedReferenceError: an annotation names what is still not there.
        """
        if name not in _INFERRED:
            refuse_attribute("ToolDefinition", name)
        own = vars(self)
        if _LOOK in own:
            whole = own[_LOOK]()
            known = {**own, **{each: getattr(whole, each) for each in _INFERRED}}
            ordered = {each.name: known[each.name] for each in fields(self)}
            # In the order of the fields, and without what looks: from now on an ordinary one.
            object.__setattr__(self, "__dict__", ordered)
        return vars(self)[name]


_INFERRED = ("parameters", "types", "remarks")
_LOOK = "_look"


_F = TypeVar("_F", bound=Callable[..., Any])

ATTRIBUTE = "_tool_definition"


@overload
def tool(function: _F, /) -> _F: ...
@overload
def tool(
    *,
    name: str | None = None,
    description: str | None = None,
    param_descriptions: Mapping[str, str] | None = None,
    params: Mapping[str, Any] | None = None,
    required: Iterable[str] | None = None,
    tags: Sequence[str] = (),
    category: str | None = None,
    instructions: str | None = None,
    activation_phrases: Sequence[str] = (),
    annotations: Mapping[str, bool] | None = None,
    output_schema: dict[str, JSON] | None = None,
    preprocess: Callable[[dict[str, Any]], Any] | None = None,
    postprocess: Callable[[Any], Any] | None = None,
    execution: Mapping[str, JSON] | None = None,
    aliases: Sequence[str] = (),
    deprecated: bool | str = False,
    replaced_by: str | None = None,
    removed_in: str | None = None,
    **fields: Any,
) -> Callable[[_F], _F]: ...
def tool(function: Any = None, /, **marks: Any) -> Any:
    """Make a function or a method a tool, bare or with arguments: ``tool(f) is f``.

    The tool's definition is attached; ``definition_of`` returns it. Nothing is registered:
    ``registry.register(f)`` does that. Schema and descriptions are inferred from annotations and
    docstring, and what is said here wins.

    Args:
        function: a function, sync or async, or a method, in the body of its class.
        marks: ``name``, ``description``, ``tags``, ``category``, ``instructions``,
            ``activation_phrases``, ``annotations``, ``execution``, ``output_schema``,
            ``preprocess``, ``postprocess``, ``aliases``, ``deprecated``, ``replaced_by`` and
            ``removed_in``, as in ToolDefinition, and further fields of it;
            ``required``: names of parameters; ``param_descriptions``: strings by parameter;
            ``params``: JSON Schema fragments by parameter, laid over the inferred ones. In a
            fragment, values can be functions, which are called whenever the schema is needed;
            those of methods are given the instance, or the class. An Enum under ``enum`` stays
            for its values.

    Raises:
        TypeError: it isn't a function, there's no such argument, or one is of a wrong type.
        InferenceError: its parameters can't be expressed, or an option names none of them.
    """
    options = options_of(marks)
    if function is None:
        return lambda decorated: _attach(decorated, options)
    return _attach(function, options)


def options_of(given: Mapping[str, Any]) -> Options:
    """Return the arguments of ``tool`` as a value.

    Raises:
        TypeError: there's no such argument, or it is of another type than it must be.
    """
    fields = {key: value for key, value in given.items() if value is not None}
    arguments = SETTABLE.union(Options._fields[:-1])  # the last takes what is left
    levels: list[tuple[str, Any, frozenset[str]]] = [
        ("tool() takes no argument {!r}", fields, arguments)
    ]
    for section, keys in SECTIONS.items():
        levels.append((f"{{!r}} is not a key of {section!r}", fields.get(section), keys))
    for words, found, known in levels:
        for key in sorted({*found} - known if isinstance(found, Mapping) else ()):
            raise TypeError("; ".join(filter(None, [words.format(key), did_you_mean(key, known)])))
    own = {key: fields.pop(key) for key in Options._fields[:-1] if key in fields}
    for key in sorted({"preprocess", "postprocess"} & fields.keys()):
        if not callable(fields[key]):
            raise TypeError(f"{key} must be a function, not {fields[key]!r:.80}")
    for key in sorted(own.keys() & {"params", "param_descriptions"}):
        if not isinstance(own[key], Mapping):
            raise TypeError(f"{key} must be a dictionary, by parameter, not {own[key]!r:.80}")
        own[key] = dict(own[key])  # the author may change theirs later
    own["params"] = {name: stated(each, (name,)) for name, each in own.get("params", {}).items()}
    if "required" in own:
        names = own["required"]
        # A string is iterable, too, and would be a name for each of its letters.
        is_list = isinstance(names, Iterable) and not isinstance(names, str | bytes | Mapping)
        names = [*names] if is_list else names  # once, for it can be a generator
        if not (is_list and all(isinstance(each, str) for each in names)):
            raise TypeError(f"required must be a list of names of parameters, not {names!r:.80}")
        own["required"] = names
    return Options(**own, fields=fields)


SETTABLE = frozenset({*FIELDS, "preprocess", "postprocess"})
"""Fields of ToolDefinition that an author may set."""


def _attach(function: Any, options: Options) -> Any:
    if isinstance(function, classmethod | staticmethod):
        raise TypeError(f"tool() takes a function; write @tool below @{type(function).__name__}")
    if not callable(function) or isinstance(function, type):
        raise TypeError(f"tool() takes a function, not {function!r:.80}")
    definition = define(function, options)
    try:
        setattr(function, ATTRIBUTE, definition)
    except AttributeError as error:  # of built-in functions, and of objects with __slots__
        words = f"nothing can be attached to {function!r:.80}"
        raise TypeError(f"{words}; wrap it in your own function") from error
    return function


def define(function: Callable[..., Any], options: Options = NO_OPTIONS) -> ToolDefinition:
    """Return the definition of a function, inferred as far as the options do not say otherwise.

    An annotation that names what is not there yet is checked when it is needed.

    Raises:
        InferenceError: its parameters can't be expressed, or an option names none of them.
    """
    try:
        return infer_definition(function, options)
    except UnresolvedReferenceError:
        known = ToolDefinition(
            **_head(function, options, documentation_of(function)), parameters={}
        )
        return PendingDefinition.after(known, partial(infer_definition, function, options))


def definition_of(function: Any) -> ToolDefinition:
    """Return the definition that ``tool`` attached to a function or a method.

    Of a bound method it is the definition for that instance, of a function that wraps a decorated
    one the definition with the wrapper instead.

    Raises:
        TypeError: it isn't a decorated function, or something else is attached to it.
    """
    definition = getattr(function, ATTRIBUTE, None)
    if definition is None:
        raise TypeError(f"{function!r:.80} is not decorated with @tool")
    if not isinstance(definition, ToolDefinition):
        kind = type(definition).__name__
        words = f"the {ATTRIBUTE} of {function!r:.80} is a {kind}, not a ToolDefinition"
        raise TypeError(f"{words}; pass what is decorated with sovl_tools.tool")
    # functools.wraps copies the attribute to the wrapper, which is another function.
    instance = getattr(function, "__self__", None)
    if instance is None and definition.function is function:
        return definition
    return bind_definition(definition, function, instance)


_EXPECTED = "a function, a method, an object with @tool methods, an AITool or a ToolDefinition"


def definitions_in(value: Any) -> ToolDefinition | list[ToolDefinition]:
    """Return the definition of a function, a method, an ``AITool`` or a definition itself.

    Of another object it is a list: the definitions of its ``@tool`` methods, bound to it, those of
    base classes included. A method that overrides one keeps its definition; None removes it.

    Raises:
        TypeError: it is nothing of the kind; the message says what to pass instead.
        InferenceError: the parameters of the function can't be expressed.
    """
    if isinstance(value, ToolDefinition):
        return value
    if isinstance(value, type):
        name = value.__name__
        if not issubclass(value, AITool):
            raise TypeError(f"register takes {_EXPECTED}, not the class {name}; pass an instance")
        missing = sorted(value.__abstractmethods__)
        if missing:
            what = f"{name} lacks {', '.join(missing)}"
            raise TypeError(f"{what}, so there can't be an instance of it")
        value = value()
    if isinstance(value, AITool):
        return definition_of_instance(value)
    if hasattr(value, ATTRIBUTE) or inspect.isroutine(value):
        return _definition_of_function(value)
    found = tool_methods(value)
    if not found and callable(value):
        return define(value)
    if not found:
        raise TypeError(f"register takes {_EXPECTED}, not {value!r:.80}")
    return found


def _definition_of_function(function: Any) -> ToolDefinition:
    marked = definition_of(function) if hasattr(function, ATTRIBUTE) else None
    if marked is None and getattr(function, "__name__", "") == "<lambda>":
        raise TypeError("a lambda has no name to call it by; use def, or tool(name=…)")
    if is_method(function):
        owner = function.__qualname__.rpartition(".")[0]
        words = f"pass an instance of {owner}, or the method of one"
        raise TypeError(f"{function.__qualname__} is a method without its object; {words}")
    if marked is None and inspect.ismethod(function):  # its function is what has a signature
        return bind_definition(define(function.__func__), function, function.__self__)
    return marked or define(function)


def tool_methods(instance: object) -> list[ToolDefinition]:
    """Return the definitions of an object's ``@tool`` methods, bound to it, in their order."""
    kind, found = type(instance), []
    names = dict.fromkeys(name for base in reversed(kind.__mro__) for name in vars(base))
    for name in names:
        # In the class dictionaries, because getattr would run properties.
        written = [vars(base)[name] for base in kind.__mro__ if name in vars(base)]
        # A class method and a static one wrap the function that has the mark.
        marked = [each for each in written if hasattr(getattr(each, "__func__", each), ATTRIBUTE)]
        # None in a class, or in the instance, removes what the bases have.
        function = getattr(instance, name) if marked and written[0] is not None else None
        if function is not None:
            # What the functions in a member's schema are given is what the member itself is given.
            given = kind if isinstance(marked[0], classmethod) else instance
            given = None if isinstance(marked[0], staticmethod) else given
            definition = definition_of(getattr(marked[0], "__func__", marked[0]))
            found.append(bind_definition(definition, function, given))
    return found
