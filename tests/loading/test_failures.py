"""What an exception at import means, whatever its own code does."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from sovl_tools.loading.import_errors import border_verdicts, error_text
from sovl_tools.model.diagnostic import Verdict
from sovl_tools.model.folder import ToolFolder
from tests.patience import PATIENCE


class InterruptingError(Exception):
    """Interrupts whoever asks what it says."""

    def __str__(self) -> str:
        raise KeyboardInterrupt


def folder(place: Path) -> ToolFolder:
    return ToolFolder("echo", "tools/echo", str(place))


def elsewhere(work: Callable[[], object]) -> object:
    """Return what is returned in another thread than the main one."""
    results: list[object] = []
    thread = threading.Thread(target=lambda: results.append(work()))
    thread.start()
    thread.join(PATIENCE)
    return results.pop()


def test_an_interrupt_in_the_main_thread_may_be_the_users(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        error_text(InterruptingError())
    with pytest.raises(KeyboardInterrupt):
        border_verdicts(InterruptingError(), folder(tmp_path))


def test_an_interrupt_elsewhere_is_the_exceptions_own(tmp_path: Path) -> None:
    assert (
        elsewhere(lambda: error_text(InterruptingError()))
        == "InterruptingError: its message can't be read"
    )
    found = elsewhere(lambda: border_verdicts(InterruptingError(), folder(tmp_path)))
    assert isinstance(found, list)
    (verdict,) = found
    assert isinstance(verdict, Verdict)
    assert verdict.rule.code == "ST501"
    assert verdict.finding.message.endswith("its message can't be read")


@pytest.mark.parametrize("error", [MemoryError(), AssertionError(), SystemExit()])
def test_an_exception_without_a_message_ends_without_a_colon(
    error: BaseException, tmp_path: Path
) -> None:
    (verdict,) = border_verdicts(error, folder(tmp_path))
    assert verdict.finding.message == f"{type(error).__name__} while importing"
