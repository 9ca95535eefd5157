from __future__ import annotations

MaybeInt = int | None


def by_own_alias(text: str, count: MaybeInt):
    return text
