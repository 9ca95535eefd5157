"""The way from a running call back to its caller."""

from __future__ import annotations

from dataclasses import dataclass, fields

from sovl_tools.model.caller import check_function, check_given
from sovl_tools.model.client_requests import Ask
from sovl_tools.model.context import Listener


@dataclass(frozen=True, slots=True)
class Host:
    """How a call reaches its terminal, its MCP client, its agent, its HTTP stream, or no one.

    Calls that a tool makes, procedures and worker processes use the host of the call above.

    Attributes:
        on_event: called with progress and log messages; None for the log.
        on_elicit: sends the user a ``Question``; returns an ``Answer``.
        on_sample: sends a model a ``SampleRequest``; returns a ``Sample``.
        on_list_roots: returns the directories that the client works in, a list of ``Root``.
        on_approve: decides on an ``ApprovalRequest``; returns an
            ``Approval``, or short: True, False or the reason against it.

    Each ``on_…`` but the first takes a request, on its own thread where it can wait for a
    person, and returns the answer; it can be async, or return a ``concurrent.futures.Future``.
    An async one runs on the event loop of the call.

    Raises:
        TypeError: one of them can't be called.
    """

    on_event: Listener | None = None
    on_elicit: Ask | None = None
    on_sample: Ask | None = None
    on_list_roots: Ask | None = None
    on_approve: Ask | None = None

    def __post_init__(self) -> None:
        """Check that each can be called."""
        for each in fields(self):
            check_given(check_function, **{each.name: getattr(self, each.name)})


NO_HOST = Host()
"""Has no one: a tool's questions are errors, and messages are logged."""
