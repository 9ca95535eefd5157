"""Annotations resolved: text evaluated, aliases followed, and the fields of a class collected.

And the callable below its decorators and wrappers.
"""

from __future__ import annotations

import builtins
import dataclasses
import inspect
import re
import sys
import typing
from collections import ChainMap
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import lru_cache, partial
from importlib import import_module
from types import (
    CodeType,
    FunctionType,
    MappingProxyType,
    NoneType,
    SimpleNamespace,
    UnionType,
)
from typing import Any, ForwardRef, NamedTuple, TypeAlias

from sovl_tools.annotations.kind import InexpressibleError

_Bound: TypeAlias = Mapping[Any, Any]
"""The types bound to a generic class's type variables."""

_UNBOUND: _Bound = MappingProxyType({})
_IS_REQUIRED = {"Required": True, "NotRequired": False}
_QUALIFIERS = frozenset({*_IS_REQUIRED, "ReadOnly", "Final"})


HIDDEN = typing.NewType("HIDDEN", object)
"""An unknown type, on its own or within another type."""

HIDDEN_CLASS = typing.NewType("HIDDEN_CLASS", object)
"""A class that is only known by name: it is neither None nor the context."""


class Names(NamedTuple):
    """Where names in annotations are looked up: first in ``local``, then in ``others``."""

    others: dict[str, Any]
    local: Mapping[str, Any] | None = None


def names_of(function: Any) -> Names:
    """Return the names that a function's code sees, followed by its class's."""
    inner = underlying(function)
    others = getattr(inner, "__globals__", None)
    if not isinstance(others, dict):
        return Names({})
    # A function sees its type parameters and the variables of the functions around it.
    known = _type_parameters(inner)
    for name, cell in zip(inner.__code__.co_freevars, inner.__closure__ or (), strict=False):
        with suppress(ValueError):  # it is not bound yet
            known[name] = cell.cell_contents
    owner = _owner(function, inner.__qualname__, others)
    if owner is not None:
        known = {**_type_parameters(owner), **known}
        return Names(_members(owner), ChainMap(known, others, vars(builtins)))
    return Names(others, known or None)


def names_in(kind: type) -> Names:
    """Return the names that a class's module has and, after them, its own."""
    known = _type_parameters(kind)
    return Names(_members(kind), ChainMap(known, _module(kind), vars(builtins)))


def _module(thing: Any) -> dict[str, Any]:
    return vars(sys.modules.get(thing.__module__) or builtins)


def _type_parameters(thing: Any) -> dict[str, Any]:
    return {each.__name__: each for each in getattr(thing, "__type_params__", ())}


def _owner(function: Any, qualified: str, others: Mapping[str, Any]) -> type | None:
    """Return the class that a method is bound to, or that its qualified name leads to."""
    bound = getattr(function, "__self__", None)
    if bound is not None and inspect.ismethod(function):
        return bound if isinstance(bound, type) else type(bound)
    # A plain function in a class's body is found by its qualified name: Shop.Counter.order.
    place, *path = qualified.split(".")[:-1] or [""]
    found = others.get(place)
    for part in path:
        found = getattr(found, part, None)
    return found if isinstance(found, type) else None


def _members(kind: type) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for base in reversed(kind.__mro__[:-1]):
        found.update(vars(base))
        found[base.__name__] = base
    return found


def resolved(annotation: Any, names: Names, bound: _Bound = _UNBOUND) -> Any:
    """Return an annotation with its text evaluated and its type variables replaced.

    Raises:
        InexpressibleError: a name in it is not defined, or it isn't an expression.
    """
    if has_text(annotation):
        try:
            if type(annotation) is str:
                annotation = eval(compile_annotation(annotation), names.others, names.local)  # noqa: S307 - code of the function's author
            # Text within one, as in list["Point"], is what only get_type_hints evaluates.
            if has_text(annotation):
                holder = SimpleNamespace(__annotations__={"annotation": annotation})
                local = names.local or {}  # without the outer names, or old answers are repeated
                hints = typing.get_type_hints(holder, names.others, local, include_extras=True)
                annotation = hints["annotation"]
        except RecursionError:  # the callers have their own words for it
            raise
        except (Exception, SystemExit) as error:
            raise _refusal(error) from error
    return _substitute(annotation, bound) if bound else annotation


def resolved_or_any(annotation: Any, names: Names, bound: _Bound = _UNBOUND) -> Any:
    """Return the result of ``resolved``, or Any where it raises."""
    try:
        return resolved(annotation, names, bound)
    except Exception:  # noqa: BLE001 - evaluating it runs its author's code
        return Any


Resolve: TypeAlias = Callable[[Any, Names, _Bound], Any]


def _refusal(error: BaseException) -> InexpressibleError:
    """Return the error of an annotation's code in words."""
    if not isinstance(error, NameError | AttributeError):
        reason = f"it can't be evaluated, {type(error).__name__}: {error}"
        return InexpressibleError(reason, "correct it")
    name = getattr(error, "name", None)
    reason = f"the name {name!r} is not defined" if name else str(error)
    return InexpressibleError(reason, "import or define it", is_open=True)


@lru_cache(maxsize=4096)
def compile_annotation(text: str) -> CodeType:
    """Return the code of an annotation that is text."""
    return compile(text.strip(), "<annotation>", "eval")


def has_text(annotation: Any) -> bool:
    """Return whether there is text in an annotation that names a type."""
    kind = type(annotation)
    if kind is type:
        return False
    if kind is str or kind is ForwardRef:
        return True
    arguments = getattr(annotation, "__args__", ())
    is_literal = getattr(annotation, "__origin__", None) is typing.Literal
    return not is_literal and isinstance(arguments, tuple) and any(map(has_text, arguments))


def _substitute(annotation: Any, bound: _Bound) -> Any:
    """Return an annotation with the type variables of a generic class replaced."""
    if isinstance(annotation, typing.TypeVar):
        return bound.get(annotation, annotation)
    free = getattr(annotation, "__parameters__", ())
    if isinstance(annotation, type) or bound.keys().isdisjoint(free):
        return annotation
    return annotation[tuple(bound.get(each, each) for each in free)]


def read_annotations(read: Callable[..., Any], owner: Any, option: str) -> Any:
    """Return the result of ``read`` for an owner's annotations, where names can be missing.

    Since Python 3.14 annotations are evaluated when they are read; ``option`` is the keyword that
    gets a ForwardRef instead of an annotation that can't be evaluated yet.

    Raises:
        InexpressibleError: a name is not defined, and this Python doesn't support the keyword.
    """
    try:
        return read(owner)
    except NameError as error:
        try:
            library = import_module("annotationlib")
        except ImportError:
            raise _refusal(error) from error
    return read(owner, **{option: library.Format.FORWARDREF})


def is_field(value: Any) -> bool:
    """Return whether a value is what pydantic's ``Field(…)`` returns."""
    return type(value).__name__ == "FieldInfo" and type(value).__module__.startswith("pydantic.")


def marker_of(default: Any) -> str | None:
    """Return the kind of a default that only a framework could replace by a value, if it is one."""
    kind = type(default)
    if kind.__module__ in {"fastapi.params", "typer.models"} or kind is dataclasses.Field:
        return f"{kind.__name__} of {kind.__module__.partition('.')[0]}"
    return None


def origin_of(annotation: Any) -> Any:
    """Return ``list`` for ``list[int]``; an annotation without arguments unchanged."""
    return typing.get_origin(annotation) or annotation


def form_of(annotation: Any) -> str:
    """Return ``Required`` for ``Required[int]``, be it of typing or of typing_extensions.

    It is ``""`` for an annotation that no special form is around.
    """
    origin = origin_of(annotation)
    is_form = origin is not annotation and not isinstance(origin, type)
    return getattr(origin, "_name", None) or "" if is_form else ""


def is_qualified(annotation: Any) -> bool:
    """Return whether an annotation has more than a field's type."""
    return form_of(annotation) in _QUALIFIERS


def unqualified(annotation: Any) -> Any:
    """Return the type of a field, without its wrappers."""
    while is_qualified(annotation):
        [annotation] = typing.get_args(annotation)
    return annotation


def is_alias(annotation: Any) -> bool:
    """Return whether an annotation is an alias that the statement ``type`` makes."""
    return type(origin_of(annotation)).__name__ == "TypeAliasType"


def value_of(annotation: Any) -> Any:
    """Return the type that an alias, a NewType or a type variable means.

    Text in it belongs to the module where it was made. A type variable without bound is Any.

    Raises:
        InexpressibleError: a name in it is not defined, or it isn't an expression.
    """
    alias = origin_of(annotation)
    try:
        if isinstance(alias, typing.NewType):
            value: Any = alias.__supertype__
        elif not isinstance(alias, typing.TypeVar):
            value = alias.__value__
        elif alias.__constraints__:
            value = typing.Union[alias.__constraints__]  # noqa: UP007 - their number varies
        else:
            value = Any if alias.__bound__ is None else alias.__bound__
    except RecursionError:
        raise
    except (Exception, SystemExit) as error:
        raise _refusal(error) from error
    names = Names(_module(alias), _type_parameters(alias) or None)
    parameters = getattr(alias, "__type_params__", ())
    bound = dict(zip(parameters, typing.get_args(annotation), strict=False))
    return resolved(value, names, bound)


def without_none(annotation: Any) -> tuple[Any, bool]:
    """Return ``T`` for ``T | None``, and whether it was that; ``Annotated`` stays around it.

    Aliases, NewTypes and type variables are followed, if their names are defined.
    """
    origin = origin_of(annotation)
    if origin in _UNIONS:
        others = tuple(each for each in typing.get_args(annotation) if each is not NoneType)
        if len(others) < len(typing.get_args(annotation)):
            return typing.Union[others], True  # noqa: UP007 - their number varies
    elif origin is typing.Annotated:
        inner, is_optional = without_none(annotation.__origin__)
        if is_optional:
            return typing.Annotated[(inner, *annotation.__metadata__)], True
    elif is_alias(annotation) or isinstance(annotation, typing.NewType | typing.TypeVar):
        with suppress(InexpressibleError):
            inner, is_optional = without_none(value_of(annotation))
            if is_optional:
                return inner, True
    return annotation, False


_UNIONS = (typing.Union, UnionType)


def text_of(annotation: Any) -> str:
    """Return an annotation as its author wrote it, or nearly so."""
    text = str(annotation)
    if isinstance(annotation, type) and "[" not in text:
        text = annotation.__name__
    text = re.sub(r" at 0x[0-9a-fA-F]+", "", text)  # which differs from run to run
    for prefix in ("typing.", "collections.abc."):
        text = text.replace(prefix, "")
    return text.replace("NoneType", "None")


_DESCRIPTIONS = {"Doc": "documentation", "DocInfo": "documentation", "FieldInfo": "description"}
"""Attributes that describe, by the name of the class."""


def description_of(annotation: Any) -> str | None:
    """Return the description that an annotation itself gives: the last text in ``Annotated``."""
    annotation = unqualified(annotation)
    if typing.get_origin(annotation) is not typing.Annotated:
        return None
    for each in reversed(annotation.__metadata__):
        text = getattr(each, _DESCRIPTIONS.get(type(each).__name__, ""), each)
        if isinstance(text, str) and text:
            return text
    return None


def field_hints(annotation: Any, resolve: Resolve) -> dict[str, Any]:
    """Return the resolved annotations of a class, including inherited ones.

    Raises:
        InexpressibleError: ``resolve`` raised it for one of them.
    """
    kind, bases = origin_of(annotation), _bases_of(annotation)
    # A TypedDict's bases are not in its __mro__, as it is a plain dict.
    hidden = [base for base in reversed(bases) if base not in kind.__mro__]
    found: dict[str, Any] = {}
    for base in (*hidden, *reversed(kind.__mro__)):
        own = _own_annotations(base)
        names = names_in(base) if own else Names({})
        for name, each in own.items():
            try:
                found[name] = resolve(each, names, bases.get(base, _UNBOUND))
            except InexpressibleError as error:
                raise error.within(f"the field {name!r} of {base.__name__}") from error
    return found


def _bases_of(annotation: Any) -> dict[type, _Bound]:
    """Return a class and its bases, each with what its type variables are."""
    found: dict[type, _Bound] = {}
    pending = [annotation]
    while pending:
        base = pending.pop()
        kind = origin_of(base)
        parameters = getattr(kind, "__parameters__", ())
        bound = dict(zip(parameters, typing.get_args(base), strict=False))
        if isinstance(kind, type) and (kind not in found or (bound and not found[kind])):
            found[kind] = bound
            for each in reversed(_written_bases(kind)):
                with suppress(TypeError):  # Generic takes only type variables
                    each = _substitute(each, bound)  # noqa: PLW2901 - or stays unchanged
                pending.append(each)
    return found


def _written_bases(kind: type) -> tuple[Any, ...]:
    bases: tuple[Any, ...] = vars(kind).get("__orig_bases__", kind.__bases__)
    return bases


def _own_annotations(kind: type) -> dict[str, Any]:
    """Return the annotations in a class's body, without a TypedDict's copies from its bases.

    They were written in another module, where their names mean something else.
    """
    found = _annotations(kind)
    if not is_typed_dict(kind):
        return found
    bases = [origin_of(base) for base in _written_bases(kind)]
    inherited = [_annotations(base) for base in bases if isinstance(base, type)]
    return {
        name: each
        for name, each in found.items()
        if all(name not in base or base[name] != each for base in inherited)
    }


def _annotations(kind: type) -> dict[str, Any]:
    found: dict[str, Any] = read_annotations(inspect.get_annotations, kind, "format")
    return found


def is_typed_dict(kind: Any) -> bool:
    """Return whether a type is a TypedDict, of typing or of typing_extensions."""
    is_dict = isinstance(kind, type) and issubclass(kind, dict)
    return is_dict and hasattr(kind, "__required_keys__")


def is_required(kind: Any, name: str, hint: Any) -> bool:
    """Return whether a TypedDict must have a key; its annotation wins over the class."""
    while typing.get_origin(hint) is typing.Annotated or form_of(hint) == "ReadOnly":
        hint = typing.get_args(hint)[0]
    return _IS_REQUIRED.get(form_of(hint), name in kind.__required_keys__)


def unpacked_keywords(annotation: Any) -> dict[str, tuple[Any, bool]]:
    """Return the keywords that ``**kwargs: Unpack[TypedDict]`` represents.

    Each has its type and whether it is required. There aren't any for another annotation.
    """
    [kind] = typing.get_args(annotation) if form_of(annotation) == "Unpack" else [None]
    origin = origin_of(kind)
    if not is_typed_dict(origin):
        return {}
    hints = field_hints(kind, resolved_or_any)
    return {
        name: (unqualified(each), is_required(origin, name, each)) for name, each in hints.items()
    }


_MOST_LAYERS = 64


def underlying(function: Any) -> Any:
    """Return the function below bound methods, partials, wrappers and callables."""
    return layers(function)[-1]


def layers(function: Any) -> list[Any]:
    """Return a callable and, one by one, what bound methods, partials and wrappers are made of."""
    found = [function]
    # wrappers may wrap each other in a circle
    while len(found) < _MOST_LAYERS and (inner := _inner(found[-1])) is not None:
        found.append(inner)
    return found


def is_closed(function: Any) -> bool:
    """Return whether a function takes only what its own parameters say."""
    is_open = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS
    return isinstance(function, FunctionType) and not function.__code__.co_flags & is_open


def _inner(function: Any) -> Any:
    if type(function) is FunctionType:
        return getattr(function, "__wrapped__", None)
    if isinstance(function, partial):
        return function.func
    # An object with a method of that name; built-in types don't have one in Python.
    called = type(function).__call__
    if is_closed(called):
        return called
    for name in ("__wrapped__", "__func__"):
        inner = getattr(function, name, None)
        if inner is not None:
            return inner
    return called if isinstance(called, FunctionType) else None
