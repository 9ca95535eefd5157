"""Types that pydantic describes and makes, and its errors in our words."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from sovl_tools.annotations.kind import (
    Build,
    Builder,
    ConversionError,
    Convert,
    InexpressibleError,
    Kind,
    Schema,
    call_type,
    ignore,
)
from sovl_tools.model.document import JSON, Path
from sovl_tools.schema.problem import named


# pydantic is never imported here: a module with a model has imported it, and it takes 200 ms.
def is_model(kind: Any) -> bool:
    """Tell whether a class says to pydantic how it is made."""
    own = hasattr(kind, "__get_pydantic_core_schema__") or hasattr(kind, "__pydantic_validator__")
    return own and "pydantic" in sys.modules


def has_rules(annotation: Any) -> bool:
    """Tell whether an ``Annotated`` makes pydantic do more than describe."""
    return "pydantic" in sys.modules and any(
        type(each).__module__.startswith("pydantic.")
        and (not is_field(each) or bool(each.metadata or each.discriminator))
        for each in annotation.__metadata__
    )


def is_field(value: Any) -> bool:
    """Tell whether a value is what pydantic's ``Field(…)`` returns."""
    return type(value).__name__ == "FieldInfo" and type(value).__module__.startswith("pydantic.")


def dump_model(value: Any) -> JSON:
    """Return what pydantic makes of an instance of a class that says how it is made."""
    adapter = sys.modules["pydantic"].TypeAdapter(type(value))
    found: JSON = adapter.dump_python(value, mode="json", by_alias=True)
    return found


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
        return builder.hoist(schema)

    def convert(self, _: Build, annotation: Any) -> Convert:
        library = sys.modules["pydantic"]
        adapter = library.TypeAdapter(annotation)

        def from_text(value: Any) -> Any:
            try:
                return adapter.validate_json(json.dumps(value))
            except library.ValidationError as error:
                found = [(_place(each, value), _reword(each)) for each in error.errors()]
                raise ConversionError(found) from error

        def convert(value: Any) -> Any:
            try:
                made = adapter.validate_python(value)
            except Exception:  # noqa: BLE001 - a strict model takes dates from JSON text only
                # The errors of this second way are reported; for other models both say the same.
                made = call_type(from_text, value)
            ignore(lambda: _ignored(made, value))
            return made

        return convert


MODEL = _Model()


def _place(error: Mapping[str, Any], value: JSON) -> Path:
    """Return where an error is, without the parts that pydantic adds for members of a union."""
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


def _ignored(made: Any, value: JSON) -> int:
    """Return how many keys in a value have no part in what pydantic made of it."""
    if isinstance(value, list) and isinstance(made, list | tuple):
        return sum(map(_ignored, made, value))
    if getattr(type(made), "__pydantic_root_model__", False):
        return _ignored(made.root, value)
    parts = _parts(made)
    if parts is None or not isinstance(value, dict):
        return 0
    known = [name for name in value if name in parts]
    return len(value) - len(known) + sum(_ignored(parts[name], value[name]) for name in known)


def _parts(made: Any) -> Mapping[str, Any] | None:
    """Return what the keys of an object became; None if that is unknown."""
    fields = getattr(type(made), "__pydantic_fields__", None)
    if fields is None:
        return made if isinstance(made, dict) else None
    found = dict(getattr(made, "model_extra", None) or {})
    for name in fields.keys() & getattr(made, "model_fields_set", fields):
        # A field may be given by its name and by any of its aliases.
        aliases = getattr(fields[name].validation_alias, "choices", [fields[name].validation_alias])
        keys = (getattr(each, "path", [each])[0] for each in aliases)
        found.update(dict.fromkeys([name, *keys], getattr(made, name, None)))
    return found
