from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from decimal import Decimal

    from numbers_of_mine import MaybeInt


def by_type_checking(text: str, count: MaybeInt, total: Decimal):
    return text
