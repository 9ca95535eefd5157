"""What the checks of a procedure look at."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from sovl_tools.model.catalog import Catalog
from sovl_tools.model.document import JSON
from sovl_tools.procedures.model import Procedure
from sovl_tools.schema.engine import Problem

Others: TypeAlias = Callable[[str], Procedure | None]
"""Returns the procedure of a name, as the one that is checked would find it."""


class DocumentCase(NamedTuple):
    """A document, and what the published schema refuses in it.

    Attributes:
        document: as it was read.
        problems: what the schema refuses.
        path: of the file; ``""`` for a dictionary.
    """

    document: JSON
    problems: list[Problem]
    path: str = ""


class ProcedureCase(NamedTuple):
    """A procedure that fits the schema, and what it can refer to.

    Attributes:
        procedure: the procedure.
        catalog: the tools and step handlers that there are; None if nobody knows, then what needs
            them is not asked.
        others: other procedures.
    """

    procedure: Procedure
    catalog: Catalog | None
    others: Others
