"""The files of procedures that ``validate`` is given, and what is wrong with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sovl_tools.configuration import Configuration
from sovl_tools.configured import add_code, folders_of
from sovl_tools.model.catalog import Catalog
from sovl_tools.model.diagnostic import Diagnostic
from sovl_tools.procedures.model import Procedure
from sovl_tools.procedures.parse.document import checked, told
from sovl_tools.procedures.parse.files import file_beside


def known_tools(found: Configuration, validated: Catalog) -> Catalog:
    """Return a catalog of the tools that have loaded in the child process, and of tools in code.

    The child tells nothing but what is wrong, so they are loaded once more, here; what has not
    loaded there is not touched.
    """
    names = {each.name for each in validated.candidates if each.status == "loaded"}
    registry = folders_of(found, names)
    add_code(registry, found)
    unavailable = {**registry.catalog.unavailable, **validated.unavailable}
    return replace(registry.catalog, unavailable=unavailable)


def wrong_in(paths: Sequence[str], catalog: Catalog | None) -> list[Diagnostic]:
    """Return all that is wrong with the procedures of some files.

    Args:
        paths: of the files.
        catalog: the tools; None if they are not known, then what needs them is not asked.
    """
    return [each for path in paths for each in _wrong(path, catalog)]


def _wrong(path: str, catalog: Catalog | None) -> tuple[Diagnostic, ...]:
    def other(name: str) -> Procedure | None:
        place = file_beside(path, name)
        return None if place is None else told(place).procedure

    return checked(told(path), catalog, other)
