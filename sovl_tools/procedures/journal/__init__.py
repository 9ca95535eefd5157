"""What runs write down, so that one that was killed can go on."""

from __future__ import annotations

from sovl_tools.procedures.journal.journal import Journal

__all__ = ["Journal"]
