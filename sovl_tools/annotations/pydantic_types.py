"""Types whose schemas pydantic makes, as their values are made by it."""

from __future__ import annotations

import json
import sys
from typing import Any

from sovl_tools.annotations.form import Builder, Form, InexpressibleError, UnwritableError
from sovl_tools.model.document import JSON


def is_model(kind: Any) -> bool:
    """Tell whether a class says to pydantic how it is made."""
    own = hasattr(kind, "__get_pydantic_core_schema__") or hasattr(kind, "__pydantic_validator__")
    return own and "pydantic" in sys.modules


def has_rules(annotation: Any) -> bool:
    """Tell whether an ``Annotated`` makes pydantic do more than describe."""
    return "pydantic" in sys.modules and any(map(_is_rule, annotation.__metadata__))


def _is_rule(metadata: Any) -> bool:
    if not type(metadata).__module__.startswith("pydantic."):
        return False
    return not is_field(metadata) or bool(metadata.metadata or metadata.discriminator)


def is_field(value: Any) -> bool:
    """Tell whether a value is what pydantic's ``Field(…)`` returns."""
    return type(value).__name__ == "FieldInfo" and type(value).__module__.startswith("pydantic.")


def described(metadata: Any) -> dict[str, JSON]:
    """Return the keywords that a ``Field(…)`` adds without changing what fits."""
    if not is_field(metadata):
        return {}
    given = {"title": metadata.title, "examples": metadata.examples}
    return {key: value for key, value in given.items() if value is not None}


def model(builder: Builder, annotation: Any) -> Form:
    """Return the form of what pydantic knows how to make.

    Raises:
        InexpressibleError: it does not know after all, or has no schema of it.
    """
    library = sys.modules["pydantic"]
    try:
        adapter = library.TypeAdapter(annotation)
        schema = getattr(annotation, "model_json_schema", adapter.json_schema)()
    except Exception as error:
        raise _refused(error) from error

    def write(value: Any) -> JSON:
        written = adapter.dump_python(value, mode="json", by_alias=True)
        made = _made(adapter, written)
        if type(made) is not type(value) or made != value:
            raise UnwritableError
        return written

    return Form(builder.hoist(schema), write)


def _made(adapter: Any, written: JSON) -> Any:
    try:
        return adapter.validate_python(written)
    except ValueError:
        return adapter.validate_json(json.dumps(written))  # a strict model reads dates from text


def _refused(error: Exception) -> InexpressibleError:
    is_open = "Undefined" in type(error).__name__ or (
        getattr(error, "code", None) in {"class-not-fully-defined", "undefined-annotation"}
    )
    message = str(error).partition("\n")[0]
    return InexpressibleError(f"pydantic has no schema of it: {message}", is_open=is_open)
