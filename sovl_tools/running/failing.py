"""What the model reads about a call that failed."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable
from json import dumps
from traceback import format_exception

from sovl_tools.model.document import Path, json_path
from sovl_tools.model.errors import ToolError
from sovl_tools.model.result import BadArgument, Failure
from sovl_tools.running.conversion import ConversionError
from sovl_tools.running.jsonvalues import InvalidResult
from sovl_tools.running.run import RunCancelledError, TimeLimitError

_LOGGER = logging.getLogger("sovl_tools")

type_name: Callable[[type], str] = vars(type)["__name__"].__get__
"""The name of a type, whatever its metaclass says."""


def message_of(error: BaseException) -> str:
    """Return the message of an exception, whose own ``__str__`` may be as broken as the tool."""
    try:
        return str(error)
    except KeyboardInterrupt:
        raise
    except BaseException as failure:  # noqa: BLE001 - the tool's own code
        return f"its message can't be read ({type_name(type(failure))})"


def failure_of(
    error: BaseException, tool: str, *, secrets: Iterable[str] = (), is_abandoned: bool = False
) -> Failure:
    """Return the failure that an exception stands for; the traceback goes to the log.

    ``secrets`` are names of environment variables whose values are not to be seen.
    """
    if isinstance(error, TimeLimitError):
        words = f"tool {tool!r} was not done after {error.limit:g} s"
        return Failure("timeout", _with_thread(words, is_abandoned), is_abandoned=is_abandoned)
    if isinstance(error, RunCancelledError):
        words = _with_thread(f"tool {tool!r} was cancelled", is_abandoned)
        return Failure("cancelled", words, is_abandoned=is_abandoned)
    if isinstance(error, ConversionError):
        return invalid_arguments(tool, error.problems)
    if isinstance(error, InvalidResult):
        return Failure("invalid_result", redacted(message_of(error), secrets))
    _log(error, tool, secrets)
    words, kind = redacted(message_of(error), secrets), type_name(type(error))
    if isinstance(error, ToolError):
        return Failure("tool_error", words, error_type=kind)
    return Failure("tool_error", f"{kind}: {words}" if words else kind, error_type=kind)


def invalid_arguments(tool: str, problems: Iterable[tuple[Path, str]]) -> Failure:
    """Return the failure that lists what is wrong with the arguments."""
    details = tuple(BadArgument(json_path(path), words) for path, words in problems)
    lines = [f"- {each.path.removeprefix('$').lstrip('.')}: {each.message}" for each in details]
    head = f"invalid arguments for {tool}:"
    return Failure("invalid_arguments", "\n".join([head, *lines]), details)


def _with_thread(words: str, is_abandoned: bool) -> str:  # noqa: FBT001 - private, one call each
    return f"{words}; its thread was given up and may still be at it" if is_abandoned else words


def _log(error: BaseException, tool: str, secrets: Iterable[str]) -> None:
    if _LOGGER.isEnabledFor(logging.DEBUG):
        trace = "".join(format_exception(error))
        _LOGGER.debug("tool %s failed\n%s", tool, redacted(trace, secrets))


def redacted(text: str, secrets: Iterable[str]) -> str:
    """Return the text without the values of those environment variables, however written."""
    for name in secrets:
        value = os.environ.get(name)
        if value:
            for form in sorted(_forms(value), key=len, reverse=True):
                text = text.replace(form, f"[{name}]")
    return text


def _forms(value: str) -> set[str]:
    """Return a value as it stands, as in a Python or JSON string, and as in an address."""
    from urllib.parse import quote  # noqa: PLC0415 - 4 ms, for failures with secrets only

    quoted = {value, repr(value)[1:-1], dumps(value)[1:-1], quote(value), quote(value, safe="")}
    return {each for each in quoted if each}
