"""The servers use only public members of other packages."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tests.conftest import REPOSITORY
from tests.tables import check_each


def private_members(source: str) -> Iterator[int]:
    """Yield the lines that use a private member of something else, and don't give the reason."""
    lines = source.splitlines()
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Attribute) or not node.attr.startswith("_"):
            continue
        is_own = isinstance(node.value, ast.Name) and node.value.id in {"self", "cls"}
        is_public = node.attr.startswith("__") or node.attr in {"_replace", "_asdict", "_fields"}
        has_reason = "noqa: SLF001 - " in lines[(node.end_lineno or 1) - 1]
        if not (is_own or is_public or has_reason):
            yield node.lineno
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names = [*node.module.split("."), *(each.name for each in node.names)]
            if any(each.startswith("_") and not each.startswith("__") for each in names):
                yield node.lineno


@check_each("package", ["serving", "remote"])
def test_no_private_member_of_the_sdk_or_uvicorn_is_used(package: str) -> None:
    modules = sorted((REPOSITORY / "sovl_tools" / package).glob("*.py"))
    assert modules
    found = [
        f"{path.name}:{line}"
        for path in modules
        for line in private_members(path.read_text(encoding="utf-8"))
    ]
    assert found == []


def test_private_members_are_found() -> None:
    source = "a._b\nself._c\nself.d._e\nf._g()  # noqa: SLF001 - why\nfrom mcp._h import i\n"
    assert sorted(private_members(source)) == [1, 3, 5]
