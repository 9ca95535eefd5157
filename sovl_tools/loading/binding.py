"""From a manifest and what its module offers to a tool."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING
from dataclasses import fields as fields_of
from types import MappingProxyType
from typing import Any

from sovl_tools.loading.interface import Interface
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.folder import KEYS, Manifest
from sovl_tools.signature.signature import UNKNOWN


def bind(manifest: Manifest, interface: Interface, *, source: str) -> ToolDefinition:
    """Return the tool; everything that it is made of has passed its checks."""
    document = manifest.document
    fields = {
        **_DEFAULTS,
        "name": document["name"],
        "description": document["description"],
        "parameters": document["parameters"],
        "function": interface.function,
        "activation_phrases": effective_phrases(manifest, interface),
        "step_handlers": interface.step_handlers,
        "source": source,
    }
    for key in document.keys() & _OPTIONAL:
        value = document[key]
        fields[key] = tuple(value) if isinstance(value, list) else value
    # The generated initialiser of a frozen dataclass sets its fields one by one, at three times
    # the cost: a twentieth of the whole load.
    definition = object.__new__(ToolDefinition)
    vars(definition).update(fields)
    return definition


_EMPTY: dict[Any, Any] = {dict: MappingProxyType({}), tuple: ()}
# The other fields that a manifest doesn't name are class attributes already.
_DEFAULTS: dict[str, Any] = {
    field.name: _EMPTY[field.default_factory]
    for field in fields_of(ToolDefinition)
    if field.default_factory is not MISSING
}
_OWN = {"activation_phrases", "step_handlers", "source", "preprocess", "postprocess"}
_REQUIRED = {"name", "description", "parameters", "function"}
_OPTIONAL = ({field.name for field in fields_of(ToolDefinition)} & KEYS) - _OWN - _REQUIRED


def effective_phrases(manifest: Manifest, interface: Interface) -> tuple[str, ...]:
    """Return the phrases that count: the module's win over the manifest's."""
    return tuple(interface.phrases) if has_own_phrases(interface) else manifest.phrases


def has_own_phrases(interface: Interface) -> bool:
    """Tell whether the phrases that count stand in the module."""
    return interface.phrases is not None and interface.phrases is not UNKNOWN


def known_actions(interface: Interface) -> tuple[str, ...]:
    """Return the actions that the module brings, as far as they can be told."""
    own = interface.handlers if isinstance(interface.handlers, Mapping) else {}
    return (*own, *(action for action in interface.claims if action not in own))
