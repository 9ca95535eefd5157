"""A new tool folder, from a few words or from a function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from sovl_tools.model.document import JSON
from sovl_tools.scaffolding.account import account_of
from sovl_tools.scaffolding.jsonlayout import rendered
from sovl_tools.scaffolding.manifest import manifest_of, meaning_of, purpose_of
from sovl_tools.scaffolding.module import import_of, source_of
from sovl_tools.scaffolding.parameter import NewParameter


class NewFolder(NamedTuple):
    """A tool that is not written yet.

    Attributes:
        name: the tool's name.
        document: its manifest.
        source: its module's text.
        notes: what the manifest does not say, and why.
    """

    name: str
    document: dict[str, JSON]
    source: str
    notes: tuple[str, ...] = ()

    @property
    def files(self) -> dict[str, bytes]:
        """The content of the folder by file name."""
        return {
            f"{self.name}.json": f"{rendered(self.document)}\n".encode(),
            f"{self.name}.py": self.source.encode(),
        }


def folder_of(
    name: str, parameters: Sequence[NewParameter], *, description: str = "", is_async: bool = False
) -> NewFolder:
    """Return a tool with these parameters, which does nothing yet but return them."""
    ordered = sorted(parameters, key=lambda each: not each.is_required)
    purpose = description or purpose_of(name)
    schema: dict[str, JSON] = {
        "type": "object",
        "properties": {each.name: _property(each) for each in ordered},
        "required": [each.name for each in ordered if each.is_required],
    }
    document: dict[str, JSON] = {"name": name, "description": purpose, "parameters": schema}
    return NewFolder(
        name, document, source_of(name, ordered, description=purpose, is_async=is_async)
    )


def _property(parameter: NewParameter) -> dict[str, JSON]:
    schema: dict[str, JSON] = {"type": parameter.type, "description": meaning_of(parameter.name)}
    if parameter.type == "array":
        schema["items"] = {}
    if parameter.default is not None:
        schema["default"] = parameter.default
    return schema


def folder_for(
    name: str, function: Callable[..., Any], *, module: str, attribute: str, description: str = ""
) -> NewFolder:
    """Return a tool that is a function of another module, which its own module imports.

    Raises:
        InferenceError: a parameter can't be expressed in JSON Schema, or something else that the
            function's decorator says can't be written.
    """
    account = account_of(function)
    for error in (*account.errors.values(), *account.losses):
        raise error
    document = manifest_of(name, account, description=description)
    return NewFolder(name, document, import_of(name, module, attribute), account.notes)
