"""Targets, as options name them."""

from __future__ import annotations

from collections.abc import Sequence

import click

from sovl_tools.loading.exporting import Target


def checked_targets(values: Sequence[str]) -> tuple[str, ...]:
    """Return targets such as ``openai-strict,gemini`` one by one.

    Raises:
        BadParameter: there is no such target.
    """
    names = [name.strip() for value in values for name in value.split(",") if name.strip()]
    if values and not names:
        raise click.BadParameter("name at least one format", param_hint="--target")
    for name in names:
        try:
            Target.of(name)
        except ValueError as error:
            raise click.BadParameter(str(error), param_hint="--target") from error
    return tuple(dict.fromkeys(names))
