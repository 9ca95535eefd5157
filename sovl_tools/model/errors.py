"""Our exceptions: what our caller got wrong, and what ends a call."""

from __future__ import annotations

from collections.abc import Sequence

from sovl_tools.model.diagnostic import Diagnostic
from sovl_tools.model.suggestion import as_hint

TRACE = 5
"""The log level at which tracebacks include the lines of sovl_tools."""


class SovlToolsError(Exception):
    """The root of every exception that this package raises on purpose."""


class ToolNotFoundError(SovlToolsError, KeyError):
    """No tool of that name is in the registry.

    Attributes:
        name: the requested name.
        suggestion: the nearest name that exists, if one is near.
        reason: why a tool of that name did not load, if there is such a folder.
        among: the place of the search, such as ``" among those in the cache"``; "" for
            everywhere.
    """

    def __init__(
        self,
        name: str,
        *,
        suggestion: str | None = None,
        reason: str | None = None,
        among: str = "",
    ) -> None:
        super().__init__(name)
        self.among = among
        self.name = name
        self.suggestion = suggestion
        self.reason = reason

    def __str__(self) -> str:
        # KeyError's own would only be the name in quotes.
        # There is such a folder: another name would be the wrong advice.
        if self.reason is not None:
            return f"tool {self.name!r} is not available: {self.reason}"
        return f"there's no tool {self.name!r}{self.among}{as_hint(self.suggestion)}"


class ToolLoadError(SovlToolsError):
    """Some tools did not load; ``diagnostics`` has the tools, places and reasons."""

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        super().__init__(diagnostics)
        self.diagnostics = tuple(diagnostics)

    def __str__(self) -> str:
        count = len(self.diagnostics)
        lines = "\n".join(map(str, self.diagnostics))
        return f"{count} error{'s' * (count != 1)} in the tools:\n{lines}"


class SchemaError(SovlToolsError, ValueError):
    """A JSON Schema that no validator can be made of; ``reason`` is the engine's own word."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class DuplicateToolError(SovlToolsError, ValueError):
    """Another tool of that name is in force; ``source`` is its origin."""

    def __init__(self, name: str, source: str) -> None:
        super().__init__(name, source)
        self.name = name
        self.source = source

    def __str__(self) -> str:
        return f"there is already a tool {self.name!r} from {self.source or 'code'}"


class ResolutionError(SovlToolsError):
    """A dynamic part of a schema can't be had; ``place`` is its path from the parameters."""

    def __init__(self, place: str, reason: str) -> None:
        super().__init__(place, reason)
        self.place = place
        self.reason = reason

    def __str__(self) -> str:
        return f"the dynamic part {self.place} {self.reason}"


class InferenceError(SovlToolsError, TypeError):
    """A function, or a type, that has no JSON Schema.

    Attributes:
        function: the function's qualified name; ``""`` for a lone type.
        parameter: the parameter that is to blame; None for the function as a whole.
        message: the reason.
        help: the correction, as an imperative; None where that is unknown.
    """

    def __init__(
        self, function: str, parameter: str | None, message: str, advice: str | None = None
    ) -> None:
        super().__init__(function, parameter, message, advice)
        self.function = function
        self.parameter = parameter
        self.message = message
        self.help = advice

    def __str__(self) -> str:
        parameter = None if self.parameter is None else repr(self.parameter)
        place = [part for part in (self.function, parameter) if part]
        return ": ".join([*place, self.message]) + (f"; {self.help}" if self.help else "")


class UnresolvedReferenceError(InferenceError):
    """An annotation uses a name that is not defined, or not yet."""


class ConfigurationError(SovlToolsError):
    """A setting that can't be read or makes no sense; ``source`` names where it is."""

    def __init__(self, source: str, message: str) -> None:
        super().__init__(source, message)
        self.source = source
        self.message = message

    def __str__(self) -> str:
        return f"{self.source}: {self.message}"


class LockError(ConfigurationError):
    """The lock file with the reviewed tools is missing or damaged."""


class ToolError(SovlToolsError):
    """Raised by a tool to tell the model something, word for word."""


class ElicitationError(ToolError):
    """A tool's question to the user without a user, or without a valid answer."""


class ApprovalError(ToolError):
    """A call that needs an approval, and doesn't have one."""


class SamplingError(ToolError):
    """A tool's question to a model without a model, or without an answer."""


class RootsError(ToolError):
    """A client that does not list its directories."""


class TimeLimitError(SovlToolsError):
    """A call that took longer than its limit, in seconds."""

    def __init__(self, limit: float) -> None:
        super().__init__(limit)
        self.limit = limit

    def __str__(self) -> str:
        return f"was not done after {self.limit:g} s"


class RunCancelledError(SovlToolsError):
    """A call that was ended by ``Tooler.cancel``, or because the one above it was."""

    def __str__(self) -> str:
        return "was cancelled"


class UnavailableError(SovlToolsError):
    """A tool that is there but can't be called, and why."""

    def __init__(self, tool: str, reason: str) -> None:
        super().__init__(tool, reason)
        self.tool = tool
        self.reason = reason

    def __str__(self) -> str:
        return f"tool {self.tool!r} is not available: {self.reason}"
