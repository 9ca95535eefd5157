"""Results that go into a file."""

from __future__ import annotations

import os
from pathlib import Path

import click

from sovl_tools.scaffolding.files import replace_files


def save(path: str, text: str) -> None:
    """Write a result into a file, with a final newline; what was there is replaced at once.

    What is no file, such as a pipe or ``/dev/null``, stays what it is and is written to.

    Raises:
        ClickException: it can't be written.
    """
    data = f"{text}\n".encode()
    folder, name = os.path.split(path)
    try:
        if os.path.isfile(path) or os.path.isdir(path) or not os.path.exists(path):
            replace_files(folder or ".", {name: data})
        else:
            Path(path).write_bytes(data)
    except OSError as error:
        raise click.ClickException(f"{path!r} can't be written: {error.strerror}") from error
