"""From a manifest and what its module offers to a tool."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.folder import ToolFolder
from sovl_tools.model.interface import UNKNOWN, Interface, StepHandler
from sovl_tools.model.manifest import Manifest

_NOTHING: Mapping[str, Any] = MappingProxyType({})


def bind(
    folder: ToolFolder,
    manifest: Manifest,
    *,
    function: Callable[..., Any],
    phrases: tuple[str, ...],
    handlers: Mapping[str, StepHandler],
) -> ToolDefinition:
    """Return the tool; everything that it is made of has passed its checks."""
    get = manifest.document.get
    definition = object.__new__(ToolDefinition)
    # The generated initialiser of a frozen dataclass sets its fields one by one, at three times
    # the cost: a twentieth of the whole load.
    vars(definition).update(
        name=get("name"),
        description=get("description"),
        parameters=get("parameters"),
        function=function,
        title=get("title"),
        tags=tuple(get("tags", ())),
        category=get("category"),
        version=get("version"),
        instructions=get("instructions"),
        activation_phrases=phrases,
        examples=tuple(get("examples", ())),
        output_schema=get("output_schema"),
        annotations=get("annotations", _NOTHING),
        execution=get("execution", _NOTHING),
        requires=get("requires", _NOTHING),
        metadata=get("metadata", _NOTHING),
        step_handlers=handlers,
        source=folder.path,
    )
    return definition


def effective_phrases(manifest: Manifest, own: Any) -> tuple[str, ...]:
    """Return the phrases that count: the module's win over the manifest's."""
    return manifest.phrases if own is None or own is UNKNOWN else tuple(own)


def has_own_phrases(interface: Interface) -> bool:
    """Tell whether the phrases that count stand in the module."""
    return interface.phrases is not None and interface.phrases is not UNKNOWN


def known_actions(interface: Interface) -> tuple[str, ...]:
    """Return the actions that the module brings, as far as they can be told."""
    if interface.handlers is None and not interface.claims:
        return ()
    own = interface.handlers if isinstance(interface.handlers, Mapping) else {}
    return (*own, *(action for action in interface.claims if action not in own))
