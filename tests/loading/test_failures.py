"""What an exception at import means."""

from __future__ import annotations

from pathlib import Path

import pytest

from sovl_tools.loading.import_errors import import_verdicts
from sovl_tools.model.folder import ToolFolder


def folder(place: Path) -> ToolFolder:
    return ToolFolder("echo", "tools/echo", str(place))


@pytest.mark.parametrize("error", [MemoryError(), AssertionError(), SystemExit()])
def test_an_exception_without_a_message_ends_without_a_colon(
    error: BaseException, tmp_path: Path
) -> None:
    (verdict,) = import_verdicts(error, folder(tmp_path))
    assert verdict.finding.message == f"{type(error).__name__} while importing"
