"""The text that the model reads about a failed call."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Sequence
from traceback import TracebackException
from typing import Literal

from sovl_tools.annotations.jsonvalues import InvalidResult
from sovl_tools.annotations.kind import ConversionError
from sovl_tools.loading.import_errors import as_written
from sovl_tools.loading.location import innermost, relative_path
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.document import Path, json_path
from sovl_tools.model.errors import (
    TRACE,
    RunCancelledError,
    SovlToolsError,
    TimeLimitError,
    ToolError,
    UnavailableError,
)
from sovl_tools.model.redaction import redact
from sovl_tools.model.result import BadArgument, Failure, FailureKind
from sovl_tools.schema.problem import MAX_MESSAGE, MAX_NAME, MAX_PROBLEMS, brief
from sovl_tools.schema.problem import place as argument_place

_LOGGER = logging.getLogger("sovl_tools")


class RemoteError(SovlToolsError):
    """A tool has failed in another process, where the failure was put in words."""

    def __init__(self, failure: Failure, trace: str = "") -> None:
        super().__init__(failure, trace)
        self.failure = failure
        self.trace = trace


def message_of(error: BaseException, secrets: Iterable[str] = ()) -> str:
    """Return the message of an exception, whose own ``__str__`` can be as broken as the tool.

    Modules of the tool's folder are called what its relative imports call them, secrets what
    their variables are called. A long message is cut.
    """
    try:
        text = str(error)
    except Exception as failure:  # noqa: BLE001 - the tool's own code
        return f"its message can't be read ({type(failure).__name__})"
    # a secret is found as a whole, so more is searched than is shown
    short = redact(as_written(text[: 2 * MAX_MESSAGE]), secrets)
    return brief(short) if len(text) <= MAX_MESSAGE else brief(short, length=len(text))


def failure_of(
    error: BaseException,
    tool: str,
    *,
    function: object = None,
    secrets: Sequence[str] = (),
    abandoned: Literal["thread", "task", "call"] | None = None,
) -> Failure:
    """Turn an exception into a failure; the traceback goes to the log.

    Args:
        error: the exception.
        tool: the name of the tool or the action.
        function: the author's, whose place in the code is named.
        secrets: names of environment variables whose values are not to be seen.
        abandoned: the thread or call on an executor that was abandoned and can still be running.
    """
    if isinstance(error, RemoteError):
        if error.trace:
            _LOGGER.debug("tool %s failed: %s\n%s", tool, error.failure.message, error.trace)
        return error.failure
    if isinstance(error, TimeLimitError | RunCancelledError):
        # these two are the dispatcher's own, and have no place in the author's code
        kind: FailureKind = "timeout" if isinstance(error, TimeLimitError) else "cancelled"
        more = f"; its {abandoned} was abandoned and can still be at it" if abandoned else ""
        return Failure(kind, f"tool {tool!r} {error}{more}", is_abandoned=bool(abandoned))
    if isinstance(error, UnavailableError):
        return Failure("unavailable", message_of(error, secrets))
    if isinstance(error, ConversionError):
        return without_secrets(refused_arguments(tool, error.problems), secrets)
    if isinstance(error, InvalidResult):
        return Failure("invalid_result", message_of(error, secrets))
    words = message_of(error, secrets)
    name = brief(redact(type(error).__name__, secrets), MAX_NAME)
    place = None
    if not isinstance(error, ToolError):  # a ToolError's own text says it all
        words = f"{name}: {words}" if words else name
        place = _place(error, function)
    if _LOGGER.isEnabledFor(logging.DEBUG):
        where = "" if place is None else f" ({place})"
        trace = trace_of(error, secrets)
        _LOGGER.debug("tool %s failed: %s%s\n%s", tool, words, where, trace)
    return Failure("tool_error", words, error_type=name, place=place)


_MOST_ARGUMENTS = 20


def refused_arguments(tool: str, details: Sequence[tuple[Path, str]]) -> Failure:
    """Return the failure that lists the problems of the arguments, each with its place."""
    lines = [
        f"- {brief(argument_place(path), MAX_NAME) or 'the arguments'}: {brief(words)}"
        for path, words in details[:_MOST_ARGUMENTS]
    ]
    left_out = len(details) - _MOST_ARGUMENTS
    more = [f"- and {left_out} more"] if len(details) > _MOST_ARGUMENTS else []
    if len(details) >= MAX_PROBLEMS:  # no one has counted the rest
        more = ["- and many more"]
    bad = tuple(BadArgument(json_path(path), words) for path, words in details)
    message = "\n".join([f"invalid arguments for {tool}:", *lines, *more])
    return Failure("invalid_arguments", message, bad)


def secrets_of(tool: ToolDefinition) -> tuple[str, ...]:
    """Return the environment variables whose values must stay hidden."""
    return tuple(tool.requires.get("env", ()))


def _place(error: BaseException, function: object) -> str | None:
    """Return the innermost line of the author's package that an exception has passed."""
    package = str(getattr(function, "__module__", None)).partition(".")[0]
    found = innermost(
        error, lambda frame: str(frame.f_globals.get("__name__")).partition(".")[0] == package
    )
    return None if found is None else f"{relative_path(found.path)}:{found.line}"


def trace_of(error: BaseException, secrets: Iterable[str]) -> str:
    """Return the traceback of an exception for the log.

    Our own frames are omitted, unless the log is as detailed as ``TRACE``.
    """
    trace = TracebackException.from_exception(error)
    if not _LOGGER.isEnabledFor(TRACE):
        _leave_out_our_frames(trace)
    return redact("".join(trace.format()), secrets)


def _leave_out_our_frames(trace: TracebackException) -> None:
    trace.stack[:] = [each for each in trace.stack if not each.filename.startswith(_OURS)]
    for other in (trace.__cause__, trace.__context__, *(trace.exceptions or ())):
        if other is not None:
            _leave_out_our_frames(other)


_OURS = os.path.join(os.path.dirname(os.path.dirname(__file__)), "")


def without_secrets(failure: Failure, secrets: Iterable[str]) -> Failure:
    """Return the failure without the values of those environment variables."""
    names = tuple(secrets)
    if not names:
        return failure
    details = tuple(
        BadArgument(redact(each.path, names), redact(each.message, names))
        for each in failure.details
    )
    kind = failure.error_type
    return failure._replace(
        message=redact(failure.message, names),
        details=details,
        error_type=None if kind is None else redact(kind, names),
    )
