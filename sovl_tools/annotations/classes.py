"""Classes that are made of an object: dataclasses, NamedTuples, TypedDicts, pydantic's models.

A dataclass and a NamedTuple take what their ``__init__`` takes, the latter also from an array in
that order; a TypedDict can have keys that it does not list. Fields are checked when the first
value comes, so that a class may refer to itself. Pydantic makes
its own models, and its errors are reworded; it is never imported here.
"""

from __future__ import annotations

import inspect
import itertools
import json
import re
import sys
import typing
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from functools import cached_property, partial
from itertools import islice
from operator import attrgetter
from typing import Any, NamedTuple

from sovl_tools.annotations.defaults import computed_fields
from sovl_tools.annotations.docstrings import class_documentation
from sovl_tools.annotations.hints import (
    Resolve,
    field_hints,
    is_field,
    is_required,
    is_typed_dict,
    names_in,
    origin_of,
    read_annotations,
    resolved,
    resolved_or_any,
    without_none,
)
from sovl_tools.annotations.kind import (
    EMPTY,
    MAPPINGS,
    Build,
    Builder,
    ConversionError,
    Convert,
    InexpressibleError,
    Kind,
    Problem,
    Schema,
    call_type,
    convert_all,
    identity,
    mismatch,
    optional,
)
from sovl_tools.model.document import JSON, Path
from sovl_tools.model.suggestion import as_hint, nearest
from sovl_tools.schema.problem import MAX_HINTS, MAX_PROBLEMS, named
from sovl_tools.schema.subschemas import nodes


class _Field(NamedTuple):
    """A key of the object; ``default`` is EMPTY if there isn't one."""

    hint: Any
    is_required: bool
    default: Any = EMPTY


def _parameters(kind: Any) -> list[inspect.Parameter]:
    if is_typed_dict(kind):
        return []  # its signature is dict's
    try:
        signature = read_annotations(inspect.signature, kind, "annotation_format")
    except (ValueError, TypeError) as error:
        reason = f"it can't be told what {kind.__name__} takes"
        raise InexpressibleError(reason, "give it an __init__ with annotations") from error
    return [*signature.parameters.values()]


def _fields_of(
    annotation: Any, parameters: Iterable[inspect.Parameter], resolve: Resolve
) -> dict[str, _Field]:
    """Return the keys of a TypedDict, or the parameters that an object's keys can be given for."""
    kind, hints = origin_of(annotation), field_hints(annotation, resolve)
    if is_typed_dict(kind):
        return {name: _Field(hint, is_required(kind, name, hint)) for name, hint in hints.items()}
    names, found = names_in(kind), {}
    for each in parameters:
        if each.kind in {each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY}:
            # Its own __init__ can take what isn't a field.
            own = Any if each.annotation is EMPTY else each.annotation
            hint = hints[each.name] if each.name in hints else resolve(own, names, {})
            found[each.name] = _Field(hint, each.default is EMPTY, each.default)
    return found


def _is_open(kind: Any, parameters: Iterable[inspect.Parameter]) -> bool:
    """Return whether the object can have other keys as well."""
    if is_typed_dict(kind):
        return getattr(kind, "__closed__", None) is not True
    return any(each.kind is each.VAR_KEYWORD for each in parameters)


def _schema(builder: Builder, annotation: Any) -> Schema:
    kind = origin_of(annotation)
    parameters, documentation = _parameters(kind), class_documentation(kind)
    for each in parameters:
        if each.kind is each.POSITIONAL_ONLY and each.default is EMPTY:
            reason = f"the parameter {each.name!r} of {kind.__name__} is positional-only"
            raise InexpressibleError(reason, "remove the '/'")
    fields, properties = _fields_of(annotation, parameters, resolved), {}
    hidden = computed_fields(kind, {name: each.default for name, each in fields.items()})
    for name, field in fields.items():
        text = documentation.parameters.get(name)
        default, hint = EMPTY if name in hidden else field.default, field.hint
        if default is None and not builder.with_none:
            hint, _ = without_none(hint)
        try:
            properties[name] = builder.build_property(hint, default=default, text=text)
        except InexpressibleError as error:
            raise error.within(f"the field {name!r} of {kind.__name__}") from error
    schema: Schema = {"type": "object"}
    if documentation.description:
        schema["description"] = documentation.description
    schema["properties"] = properties
    schema["required"] = [name for name, field in fields.items() if field.is_required]
    return schema if _is_open(kind, parameters) else {**schema, "additionalProperties": False}


class _Maker:
    """Makes instances of a class of objects."""

    def __init__(self, build: Build, annotation: Any) -> None:
        self._build = build
        self._annotation = annotation
        self._class = origin_of(annotation)
        self._parameters = _parameters(self._class)
        self._is_open = _is_open(self._class, self._parameters)

    @cached_property
    def _fields(self) -> dict[str, _Field]:
        return _fields_of(self._annotation, self._parameters, resolved_or_any)

    @cached_property
    def _required(self) -> list[str]:
        return [name for name, field in self._fields.items() if field.is_required]

    @cached_property
    def _converters(self) -> dict[str, Convert]:
        build = self._build
        return {
            name: optional(build(each.hint)) if each.default is None else build(each.hint)
            for name, each in self._fields.items()
        }

    def instance(self, value: Any) -> Any:
        return (
            value if isinstance(value, self._class) else call_type(self._class, **self.keys(value))
        )

    def from_array(self, value: Any) -> Any:
        """Convert an array of the fields in their order, or what ``instance`` does."""
        if type(value) not in {list, tuple}:
            return self.instance(value)
        names = [*self._fields]
        if len(value) > len(names):
            message = f"must have at most {len(names)} items, not {len(value)}"
            raise ConversionError([((), message)])
        try:
            return self.instance(dict(zip(names, value, strict=False)))
        except ConversionError as error:
            # The caller gave an array, so the places are indices and not names.
            places = {name: index for index, name in enumerate(names)}
            raise ConversionError(
                ((*(places[str(part)] for part in path[:1]), *path[1:]), words)
                for path, words in error.found
            ) from error

    def keys(self, value: Any) -> dict[str, Any]:
        """Convert the listed keys of an object; all others stay unchanged."""
        if not isinstance(value, MAPPINGS):
            raise mismatch(value, "an object")
        problems: list[Problem] = [
            ((name,), "is required") for name in self._required if name not in value
        ]
        if not self._is_open and not value.keys() <= self._fields.keys():
            unknown = (name for name in value if name not in self._fields)
            free = self._fields.keys() - value.keys()
            for number, name in enumerate(islice(unknown, MAX_PROBLEMS)):
                others = free if number < MAX_HINTS else frozenset[str]()
                problems.append(((name,), partial(self._unknown, name, others)))
        converters = self._converters
        parts = [(name, converters.get(name, identity), each) for name, each in value.items()]
        return dict(zip(value, convert_all(parts, problems), strict=True))

    def _unknown(self, name: str, others: Iterable[str]) -> str:
        near = nearest(str(name), others)
        return f"is not a field of {self._class.__name__}{as_hint(near)}"


class _Class(Kind):
    """Classes that are made of an object; ``converter`` finds how, in what makes instances."""

    is_shared = True

    def __init__(self, converter: Callable[[_Maker], Convert]) -> None:
        self._converter = converter

    def describe(self, builder: Builder, annotation: Any) -> Schema:
        # A generic class has the names of its arguments in its own: Box_date.
        arguments = (getattr(each, "__name__", str(each)) for each in typing.get_args(annotation))
        title = "_".join([origin_of(annotation).__name__, *arguments])
        return builder.define(annotation, title, partial(_schema, builder, annotation))

    def convert(self, build: Build, annotation: Any) -> Convert:
        return self._converter(_Maker(build, annotation))


DATACLASS = _Class(attrgetter("instance"))
NAMED_TUPLE = _Class(attrgetter("from_array"))
TYPED_DICT = _Class(attrgetter("keys"))


# pydantic is never imported here: a module with a model has imported it, and it takes 200 ms.
def is_model(kind: Any) -> bool:
    """Return whether a class says to pydantic how it is made."""
    own = hasattr(kind, "__get_pydantic_core_schema__") or hasattr(kind, "__pydantic_validator__")
    return own and "pydantic" in sys.modules


def has_rules(annotation: Any) -> bool:
    """Return whether an ``Annotated`` makes pydantic do more than describe."""
    return "pydantic" in sys.modules and any(
        type(each).__module__.startswith("pydantic.")
        and (not is_field(each) or bool(each.metadata or each.discriminator))
        for each in annotation.__metadata__
    )


def dump_model(value: Any, *, with_none: bool = True) -> JSON:
    """Return pydantic's JSON for an instance of a class that describes itself.

    ``with_none`` is False to omit the fields that are None.
    """
    adapter = sys.modules["pydantic"].TypeAdapter(type(value))
    found: JSON = adapter.dump_python(value, mode="json", by_alias=True, exclude_none=not with_none)
    return found


def _hide_none(schema: Schema, *, with_none: bool) -> None:
    """Remove the defaults of fields that are None by default from pydantic's schema, and null."""
    for node in nodes(schema, ()):
        required = node.schema.get("required", ())
        for name, each in node.schema.get("properties", {}).items():
            is_none = isinstance(each, dict) and each.get("default", EMPTY) is None
            if name in required or not is_none:
                continue
            del each["default"]
            parts = each.get("anyOf", ())
            others = [part for part in parts if part != {"type": "null"}]
            if not with_none and 0 < len(others) < len(parts):
                rest = {key: part for key, part in each.items() if key != "anyOf"}
                each.clear()
                each.update(others[0] if len(others) == 1 else {"anyOf": others}, **rest)


class _Model(Kind):
    """What says to pydantic how it is made."""

    is_shared = True

    def describe(self, builder: Builder, annotation: Any) -> Schema:
        library = sys.modules["pydantic"]
        try:
            adapter = library.TypeAdapter(annotation)
            schema = getattr(annotation, "model_json_schema", adapter.json_schema)()
        except Exception as error:
            is_open = "Undefined" in type(error).__name__ or (
                getattr(error, "code", None) in {"class-not-fully-defined", "undefined-annotation"}
            )
            message = str(error).partition("\n")[0]
            reason = f"pydantic has no schema of it: {message}"
            raise InexpressibleError(reason, is_open=is_open) from error
        _hide_computed(schema, _models_in(annotation))
        _hide_none(schema, with_none=builder.with_none)
        return builder.hoist(schema)

    def convert(self, _: Build, annotation: Any) -> Convert:
        library = sys.modules["pydantic"]
        adapter = library.TypeAdapter(annotation)

        def from_text(value: Any) -> Any:
            try:
                return adapter.validate_json(json.dumps(value))
            except library.ValidationError as error:
                raise ConversionError(_problems(error, value)) from error

        def convert(value: Any) -> Any:
            try:
                return adapter.validate_python(value)
            except Exception:  # noqa: BLE001 - a strict model takes dates from JSON text only
                # The errors of this second way are reported; for other models both say the same.
                return call_type(from_text, value)

        return convert


MODEL = _Model()


def _models_in(annotation: Any) -> dict[str, Any]:
    """Return the models and dataclasses that an annotation contains, by the classes' names."""
    found: dict[str, Any] = {}
    pending = [annotation]
    for each in pending:  # which grows meanwhile
        pending += typing.get_args(each)
        if isinstance(each, type) and _own_fields(each) and each.__name__ not in found:
            found[each.__name__] = each
            pending += field_hints(each, resolved_or_any).values()
    return found


def _own_fields(kind: type) -> Mapping[str, Any]:
    """Return the fields of a model of pydantic or of a dataclass."""
    fields = getattr(kind, "__pydantic_fields__", None) or getattr(kind, "__dataclass_fields__", {})
    return fields if isinstance(fields, dict) else {}


def _hide_computed(schema: Schema, models: Mapping[str, Any]) -> None:
    """Remove the defaults that aren't constant expressions from pydantic's schema of models."""
    whole = [schema] if len(models) and "properties" in schema else []
    for name, model in models.items():
        places = [schema.get("$defs", {}).get(name, {})]
        if whole and name == next(iter(models)):
            places += whole
        fields = _own_fields(model)
        hidden = computed_fields(model, {key: each.default for key, each in fields.items()})
        for place, key in itertools.product(places, hidden):
            alias = getattr(fields[key], "alias", None) or key
            place.get("properties", {}).get(alias, {}).pop("default", None)


_MOST_REPORTED = 10 * MAX_PROBLEMS


def _problems(error: Any, value: JSON) -> list[Problem]:
    """Return the text of pydantic's error; each of its parts takes a kilobyte."""
    count = error.error_count()
    if count > _MOST_REPORTED:
        return [((), f"is wrong in {count:,} places")]
    return [(_place(each, value), _reword(each)) for each in error.errors()]


def _place(error: Mapping[str, Any], value: JSON) -> Path:
    """Return an error's place, without the parts that pydantic adds for members of a union."""
    path: Path = ()
    for part in error["loc"]:
        with suppress(LookupError, TypeError):
            value = value[part]
            path = (*path, part)
    return (*path, error["loc"][-1]) if error["type"] == "missing" else path


def _reword(error: Mapping[str, Any]) -> str:
    message: str = error["msg"].removeprefix("Value error, ").removeprefix("Assertion failed, ")
    should = re.match(r"\w+ should ", message)
    if should:
        return f"must {message[should.end() :]}, not {named(error['input'])}"
    return {"missing": "is required", "extra_forbidden": "is not a field"}.get(
        error["type"], message
    )


def known_keys(annotation: Any) -> Collection[str] | None:
    """Return the keys that a TypedDict or a model of pydantic knows; None for other types."""
    kind = origin_of(annotation)
    if is_typed_dict(kind):
        return frozenset(kind.__required_keys__ | kind.__optional_keys__)
    fields = getattr(kind, "__pydantic_fields__", None)
    if fields is None or getattr(kind, "__pydantic_root_model__", False):
        return None
    found: set[str] = set()
    for name, field in fields.items():
        alias = name if field.validation_alias is None else field.validation_alias
        choices = getattr(alias, "choices", [alias])
        found |= {getattr(each, "path", [each])[0] for each in choices}
    return found
