"""Requests of running tools to the client that called them: to its user, its model, or itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

from sovl_tools.model.caller import check_count, check_given, check_names, check_number, check_text
from sovl_tools.model.content import is_block
from sovl_tools.model.document import JSON, json_text
from sovl_tools.model.errors import (
    ApprovalError,
    ElicitationError,
    RootsError,
    RunCancelledError,
    SamplingError,
    ToolError,
)


class Question(NamedTuple):
    """A question of a running call to the user.

    Attributes:
        tool: the tool's name.
        message: the text that the user reads.
        schema: the JSON Schema of the answer: an object whose properties are strings, numbers,
            booleans or choices.
        key: the key of the answer, for clients that answer by calling again; "" for a number.
        url: a page to open instead; "" without one.
    """

    tool: str
    message: str
    schema: dict[str, JSON]
    key: str = ""
    url: str = ""


class Answer(NamedTuple):
    """The user's answer to a question.

    Attributes:
        action: ``"accept"``, ``"decline"``, or ``"cancel"`` for a closed dialog.
        content: the completed form; None unless the user accepted.
    """

    action: Literal["accept", "decline", "cancel"]
    content: dict[str, JSON] | None = None

    @property
    def ok(self) -> bool:
        """Whether the user accepted."""
        return self.action == "accept"


class SampleRequest(NamedTuple):
    """A request of a running call to the client's model.

    Attributes:
        tool: the tool's name.
        messages: the conversation, each with ``role`` and ``content``: a content block of MCP, or a
            list of blocks.
        max_tokens: the maximum length of the answer.
        system_prompt: the system prompt; the client can ignore it.
        temperature: the temperature; None for the client's choice.
        stop_sequences: strings that end the answer.
        key: as in ``Question``.
    """

    tool: str
    messages: list[dict[str, JSON]]
    max_tokens: int
    system_prompt: str | None = None
    temperature: float | None = None
    stop_sequences: tuple[str, ...] = ()
    key: str = ""


class Sample(NamedTuple):
    """The answer of the client's model.

    Attributes:
        text: the strings of the answer.
        model: the name of the model, which the client chooses.
        stop_reason: the reason of its end, such as ``"endTurn"`` or ``"maxTokens"``, if available.
        content: the blocks of the answer, as in MCP.
    """

    text: str
    model: str
    stop_reason: str | None
    content: list[dict[str, JSON]]


class RootsRequest(NamedTuple):
    """A running call's request for the directories that the client works in.

    Attributes:
        tool: the name of the requesting tool.
        key: as of a ``Question``.
    """

    tool: str
    key: str = ""


class Root(NamedTuple):
    """A directory or file that a client works with."""

    uri: str
    name: str | None = None


class ApprovalRequest(NamedTuple):
    """A call that waits for a person's approval before it begins.

    Attributes:
        tool: the tool's name.
        arguments: the checked arguments.
        description: the tool's description.
        call_id: identifies the call.
        chain: the names of the tools that called each other, this one last.
    """

    tool: str
    arguments: dict[str, JSON]
    description: str = ""
    call_id: str = ""
    chain: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """Identifies the answer, as the key of a ``Question`` does."""
        return f"approve-{self.tool}"


class Approval(NamedTuple):
    """The answer to a request for approval; ``True``, ``False`` and a reason are short forms.

    Attributes:
        approved: whether the call can be made.
        reason: why not; the model reads it.
        remember: whether the answer is valid for all later calls of the tool.
    """

    approved: bool
    reason: str = ""
    remember: bool = False


ClientRequest: TypeAlias = Question | SampleRequest | RootsRequest
HostRequest: TypeAlias = ClientRequest | ApprovalRequest

Ask: TypeAlias = Callable[[Any], Any]
"""Takes a HostRequest, in any thread; returns its answer, or a ``concurrent.futures.Future`` or an
awaitable of it. The answer is an Answer, a Sample, a list of Root, or an Approval."""


class RequestKind(NamedTuple):
    """A kind of request.

    Attributes:
        option: of a call, which says who answers.
        error: the class of the tool's error if no client can answer.
        words: the reason in that error.
        client: the capability that a client needs.
        answer: the type of the answer, in words.
        types: the classes of the answer.
    """

    option: str
    error: type[ToolError]
    words: str
    client: str
    answer: str
    types: tuple[type, ...]


REQUEST_KINDS: Mapping[type[HostRequest], RequestKind] = {
    Question: RequestKind(
        "on_elicit", ElicitationError, "the user can't be reached", "supports elicitation",
        "an Answer", (Answer,),
    ),
    SampleRequest: RequestKind(
        "on_sample", SamplingError, "no model can be reached", "supports sampling", "a Sample",
        (Sample,),
    ),
    ApprovalRequest: RequestKind(
        "on_approve", ApprovalError, "this call needs approval, and no host can give it",
        "approves calls", "an Approval, a bool or a reason", (Approval, bool, str),
    ),
    RootsRequest: RequestKind(
        "on_list_roots", RootsError, "the client's directories are unknown", "lists its roots",
        "a list of Root", (list,),
    ),
}  # fmt: skip

REQUESTS: Mapping[str, type[HostRequest]] = {
    each.option: kind for kind, each in REQUEST_KINDS.items()
}
"""The options of a call that say who answers."""


def answer_of(request: HostRequest, future: Any) -> Any:
    """Wait for the answer and return it.

    Raises:
        ToolError: of the request's kind: the answer has another type, or the function failed.
        RunCancelledError: the request was cancelled.
    """
    from concurrent.futures import CancelledError  # noqa: PLC0415 - it has made the future

    kind = REQUEST_KINDS[type(request)]
    try:
        answer = future.result()
    except CancelledError:
        raise RunCancelledError from None
    if not isinstance(answer, kind.types):
        raise kind.error(f"{kind.option} must answer {kind.answer}, not {answer!r:.80}")
    return answer


async def awaited_answer(request: HostRequest, future: Any) -> Any:
    """Await the answer; see ``answer_of``. A cancellation cancels the request, too."""
    from asyncio import wait, wrap_future  # noqa: PLC0415 - a caller that awaits has loaded it

    answered = wrap_future(future)
    try:
        await wait([answered])
    except BaseException:
        future.cancel()
        raise
    # retrieved, or asyncio logs that the exception never was
    if not answered.cancelled():
        answered.exception()
    return answer_of(request, future)


def check_sendable(request: ClientRequest) -> None:
    """Check that a request can be sent to a client.

    Raises:
        TypeError: a value in it isn't JSON.
        ValueError: a number or string in it isn't JSON, or it is nested too deep.
    """
    try:
        json_text(request)
    except (TypeError, ValueError) as error:
        raise type(error)(f"no client can take this request: {error}") from None


def sample_request(  # noqa: PLR0913 - as the protocol has them
    tool: str,
    prompt: str | Sequence[Mapping[str, JSON]],
    *,
    max_tokens: int,
    system_prompt: str | None = None,
    temperature: float | None = None,
    stop_sequences: Sequence[str] = (),
    key: str = "",
) -> SampleRequest:
    """Return a request to the client's model.

    Raises:
        ValueError: the prompt is neither a string nor a list of messages, or a number is invalid.
        TypeError: an argument has the wrong type.
    """
    check_count("max_tokens", max_tokens)
    check_given(check_text, system_prompt=system_prompt)
    check_given(check_number, temperature=temperature)
    stops = check_names("stop_sequences", stop_sequences, "texts")
    messages = messages_of(prompt)
    return SampleRequest(tool, messages, max_tokens, system_prompt, temperature, stops, str(key))


def messages_of(prompt: str | Sequence[Mapping[str, JSON]]) -> list[dict[str, JSON]]:
    """Return the messages of a prompt: the user's text, or messages with text or content blocks.

    Raises:
        ValueError: it is neither.
    """
    given: Any = [{"role": "user", "content": prompt}] if isinstance(prompt, str) else prompt
    if not isinstance(given, list | tuple) or not given:
        raise ValueError(f"a prompt is a string or a list of messages, not {prompt!r:.80}")
    messages = []
    for message in given:
        if not isinstance(message, Mapping) or message.get("role") not in ("user", "assistant"):
            raise ValueError(
                f"a message has the role 'user' or 'assistant' and content, unlike {message!r:.80}"
            )
        content = message.get("content")
        block = {"type": "text", "text": content} if isinstance(content, str) else content
        if not (
            is_block(block) or (isinstance(block, list) and block and all(map(is_block, block)))
        ):
            raise ValueError(
                f"a message's content is a string or blocks of content, not {block!r:.80}"
            )
        messages.append({"role": message["role"], "content": block})
    return messages
