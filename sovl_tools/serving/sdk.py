"""Parts of the MCP SDK without the rest.

``import mcp.server.lowlevel`` would first run ``mcp/__init__.py`` and ``mcp/server/__init__.py``,
which import every client, server and transport. That, and validators of 500 models of which a
client needs a few, is a third of the time until ``serve`` answers.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec, module_from_spec
from threading import RLock
from types import ModuleType
from typing import Any

_LOCK = RLock()


class _Package(ModuleType):
    """A package whose ``__init__.py`` runs when a name is read that it would bind."""

    def __getattr__(self, name: str) -> Any:
        with _LOCK:
            if type(self) is _Package and self.__spec__ and self.__spec__.loader:
                _become(self, ModuleType)
                with _models_are_built_when_used():
                    self.__spec__.loader.exec_module(self)
        return ModuleType.__getattribute__(self, name)


def _become(module: ModuleType, kind: type[ModuleType]) -> None:
    module.__class__ = kind


@contextmanager
def _models_are_built_when_used() -> Iterator[None]:
    """Let pydantic make the validators of models that are defined meanwhile at their first use."""
    from pydantic import BaseModel  # noqa: PLC0415 - 50 ms, for an extra

    before = BaseModel.model_config
    BaseModel.model_config = {**before, "defer_build": True}
    try:
        yield
    finally:
        BaseModel.model_config = before


def import_in_parts(*packages: str) -> None:
    """Let modules of packages be imported without running the packages' ``__init__.py`` first."""
    for name in packages:
        spec = None if name in sys.modules else find_spec(name)
        if spec is None:
            return  # it has run already, or isn't installed
        module = module_from_spec(spec)
        _become(module, _Package)
        sys.modules[name] = module
        above, _, last = name.rpartition(".")
        if above:
            setattr(sys.modules[above], last, module)
