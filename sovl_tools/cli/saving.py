"""Results that go into a file."""

from __future__ import annotations

import os

import click

from sovl_tools.scaffolding.saving import replace_files


def save(path: str, text: str) -> None:
    """Write a result into a file, with a final newline; what was there is replaced at once.

    Raises:
        ClickException: it can't be written.
    """
    folder, name = os.path.split(path)
    try:
        replace_files(folder or ".", {name: f"{text}\n".encode()})
    except OSError as error:
        raise click.ClickException(f"{path!r} can't be written: {error.strerror}") from error
