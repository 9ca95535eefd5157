"""The settings of the calls of tools, for every entry point."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, Self, TypeAlias

from sovl_tools.model.call import MODES, Mode
from sovl_tools.model.caller import check_count, check_given, check_names, check_seconds, check_word
from sovl_tools.model.document import JSON
from sovl_tools.model.folder import SECTIONS

Coerce: TypeAlias = Literal["strict", "lenient"]
Approving: TypeAlias = Literal["never", "destructive", "always"] | tuple[str, ...]
"""Which calls need approval before they are made: a word, or shell patterns of tool names."""


@dataclass(frozen=True, slots=True)
class Policy:
    """How tools are called: the same settings in Python, the configuration and the commands.

    A manifest's ``execution`` wins over a policy, except over the two ceilings, and the settings of
    a call says wins over both.

    Attributes:
        timeout: a call's limit, in seconds; None for no limit.
        mode: where tools run; see ``Tooler``.
        coerce: ``"lenient"`` repairs arguments where there is one way to do so.
        max_result_bytes: results that are longer as UTF-8 are cut.
        max_concurrency: the number of calls of each tool that can run at a time; others wait.
        retry: the maximum number of attempts for a call of an idempotent tool, the first included.
        cache_seconds: the time that equal calls of a read-only tool get the same result.
        rate_limit: the number of calls of each tool that can begin in a time, such as ``"5/s"``,
            ``"100/min"`` or ``"1000/h"``.
        approval: which calls the host must approve: ``"never"``, ``"destructive"``, ``"always"``,
            or shell patterns of tool names. None is ``"destructive"`` where a model chooses the
            calls, as for an ``Agent``, and ``"never"`` elsewhere.
        timeout_ceiling: the longest timeout that a manifest or a call can set, in seconds.
        result_ceiling: the longest result that a manifest can set, in bytes.

    Raises:
        ValueError: a number isn't more than 0, or a word is unknown.
        TypeError: a value has the wrong type.
    """

    timeout: float | None = None
    mode: Mode | None = None
    coerce: Coerce = "strict"
    max_result_bytes: int | None = None
    max_concurrency: int | None = None
    retry: int | None = None
    cache_seconds: float | None = None
    rate_limit: str | None = None
    approval: Approving | None = None
    timeout_ceiling: float | None = None
    result_ceiling: int | None = None

    def __post_init__(self) -> None:
        """Check each value."""
        check_given(
            check_seconds,
            timeout=self.timeout,
            cache_seconds=self.cache_seconds,
            timeout_ceiling=self.timeout_ceiling,
        )
        check_word("mode", self.mode, (None, *MODES))
        check_word("coerce", self.coerce, ("strict", "lenient"))
        check_given(
            check_count,
            max_result_bytes=self.max_result_bytes,
            max_concurrency=self.max_concurrency,
            retry=self.retry,
            result_ceiling=self.result_ceiling,
        )
        if self.rate_limit is not None:
            calls_per_second(self.rate_limit)
        if self.approval is not None:
            object.__setattr__(self, "approval", check_approval(self.approval))

    def but(self, **given: Any) -> Self:
        """Return the policy with the values that are given and not None.

        Raises:
            TypeError: the setting doesn't exist.
            ValueError: as for the class.
        """
        return replace(self, **{key: value for key, value in given.items() if value is not None})

    def for_tool(self, execution: Mapping[str, JSON]) -> Self:
        """Return the policy for a tool, whose manifest's ``execution`` says more."""
        own = {key: value for key, value in execution.items() if key in _OF_TOOLS}
        policy = self.but(**own)
        return policy.but(
            timeout=_least(policy.timeout, policy.timeout_ceiling),
            max_result_bytes=_least(policy.max_result_bytes, policy.result_ceiling),
        )


_OF_TOOLS = SECTIONS["execution"] - {"memory_mb", "isolated_env"}


def _least(*values: Any) -> Any:
    return min((each for each in values if each is not None), default=None)


def calls_per_second(text: str) -> tuple[int, float]:
    """Return the number of calls and the number of seconds of a rate such as ``"5/s"``.

    Raises:
        ValueError: the text isn't a rate.
    """
    match = re.fullmatch(r"([1-9][0-9]*)/(s|min|h)", str(text))
    if match is None:
        words = "such as '5/s', '100/min' or '1000/h'"
        raise ValueError(
            f"rate_limit must be a number of calls in a time, {words}, not {text!r:.80}"
        )
    return int(match[1]), {"s": 1.0, "min": 60.0, "h": 3600.0}[match[2]]


def check_approval(approval: Any) -> Approving:
    """Return the calls that need approval, after checking them.

    Raises:
        ValueError: it is another word.
        TypeError: it is neither a word nor a list of patterns.
    """
    if isinstance(approval, str):
        if approval not in ("never", "destructive", "always"):
            words = "'never', 'destructive', 'always' or a list of shell patterns"
            raise ValueError(f"approval must be {words}, not {approval!r:.80}")
        return approval  # type: ignore[return-value]  # one of the words
    return check_names("approval", approval, "shell patterns")
