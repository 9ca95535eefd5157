"""Validators that are not ours, for what schemas that we made or changed must say."""

from __future__ import annotations

from typing import Any

from jsonschema_rs import Draft202012Validator


def validator(schema: Any) -> Draft202012Validator:
    """Return a validator of a schema, which fetches nothing.

    Raises:
        ValueError: it isn't a schema, or refers to something that is not there.
    """
    return Draft202012Validator(schema, offline=True)
