from __future__ import annotations

from typing import Optional as Opt


def by_alias(text: str, count: Opt[int]):
    return text
