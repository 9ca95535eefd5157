"""What holds for every tool of the repository."""

import sovl_tools
from sovl_tools import Diagnostic

from .conftest import REPOSITORY

TOOLS = REPOSITORY / "tools"
NAMES = sorted(path.name for path in TOOLS.iterdir() if path.is_dir() and path.name[0] not in "._")


def test_all_load_without_a_finding(registry: sovl_tools.ToolRegistry) -> None:
    findings: list[Diagnostic] = list(registry.report.diagnostics)
    assert findings == []
    assert sorted(tool.name for tool in registry) == NAMES
