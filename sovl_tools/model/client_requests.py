"""What a running tool asks of the client that called it: of its user, its model, or itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import CoroutineType
from typing import Any, Literal, NamedTuple, TypeAlias, cast

from sovl_tools.model.caller import check_count, check_given, check_names, check_number, check_text
from sovl_tools.model.content import is_block
from sovl_tools.model.document import JSON, json_text
from sovl_tools.model.errors import (
    ElicitationError,
    RootsError,
    RunCancelledError,
    SamplingError,
    ToolError,
)


class Question(NamedTuple):
    """Something that a running call has to ask the user.

    Attributes:
        tool: the name of the tool that asks.
        message: what the user reads.
        schema: the JSON Schema of the answer: an object whose properties are texts, numbers,
            booleans or choices.
        key: what a client that answers by calling again sends the answer under; "" for a number.
        url: a page to open, where the user is asked instead; "" for none.
    """

    tool: str
    message: str
    schema: dict[str, JSON]
    key: str = ""
    url: str = ""


class Answer(NamedTuple):
    """What the user made of a question.

    Attributes:
        action: ``"accept"``, ``"decline"`` or ``"cancel"``, which is a dialog that was closed.
        content: what was filled in; None unless it was accepted.
    """

    action: Literal["accept", "decline", "cancel"]
    content: dict[str, JSON] | None = None

    @property
    def ok(self) -> bool:
        """Whether the user has answered."""
        return self.action == "accept"


class SampleRequest(NamedTuple):
    """Something that a running call has to ask the client's model.

    Attributes:
        tool: the name of the tool that asks.
        messages: the conversation so far, each with ``role`` and ``content``, which is a block of
            content as in MCP or a list of them.
        max_tokens: how long the answer may be.
        system_prompt: the system prompt; the client may leave it out.
        temperature: how freely the model may answer; None for the client's own choice.
        stop_sequences: texts at which the answer ends.
        key: as of a ``Question``.
    """

    tool: str
    messages: list[dict[str, JSON]]
    max_tokens: int
    system_prompt: str | None = None
    temperature: float | None = None
    stop_sequences: tuple[str, ...] = ()
    key: str = ""


class Sample(NamedTuple):
    """What the client's model answered.

    Attributes:
        text: the texts of the answer.
        model: the name of the model, which the client chooses.
        stop_reason: why it ended, such as ``"endTurn"`` or ``"maxTokens"``, if that is known.
        content: the blocks of the answer, as in MCP.
    """

    text: str
    model: str
    stop_reason: str | None
    content: list[dict[str, JSON]]


class RootsRequest(NamedTuple):
    """A running call wants to know the directories in which the client works.

    Attributes:
        tool: the name of the tool that asks.
        key: as of a ``Question``.
    """

    tool: str
    key: str = ""


class Root(NamedTuple):
    """A directory or file in which a client works."""

    uri: str
    name: str | None = None


ClientRequest: TypeAlias = Question | SampleRequest | RootsRequest

Ask: TypeAlias = Callable[[Any], Any]
"""Takes a ClientRequest, in any thread, and returns a ``concurrent.futures.Future`` of its answer:
an Answer, a Sample, or a list of Root."""


class RequestKind(NamedTuple):
    """A kind of request.

    Attributes:
        option: of a call, which says who answers.
        error: the class of the error that a tool gets where nobody answers.
        words: what can't be done there.
        client: which clients could.
        answer: what answers it, in words.
        is_answer: tells whether a value does.
    """

    option: str
    error: type[ToolError]
    words: str
    client: str
    answer: str
    is_answer: Callable[[Any], bool]


def _consists(value: Any, kind: type, *types: Any) -> bool:
    """Tell whether a value is a tuple of a kind whose fields are of those types."""
    return isinstance(value, kind) and all(map(isinstance, cast("Any", value), types))


REQUEST_KINDS: Mapping[type[ClientRequest], RequestKind] = {
    Question: RequestKind(
        "on_elicit", ElicitationError, "nobody can be asked", "asks its user", "an Answer",
        lambda value: (
            _consists(value, Answer, str, dict | None)
            and value.action in ("accept", "decline", "cancel")
        ),
    ),
    SampleRequest: RequestKind(
        "on_sample", SamplingError, "no model can be asked", "lends its model", "a Sample",
        lambda value: _consists(value, Sample, str, str, str | None, list),
    ),
    RootsRequest: RequestKind(
        "on_list_roots", RootsError, "nobody can be asked for directories", "says where it works",
        "a list of Root",
        lambda value: (
            isinstance(value, list)
            and all(_consists(each, Root, str, str | None) for each in value)
        ),
    ),
}  # fmt: skip

REQUESTS: Mapping[str, type[ClientRequest]] = {
    each.option: kind for kind, each in REQUEST_KINDS.items()
}
"""The options of a call that say who answers."""


def begin_request(ask: Ask, request: ClientRequest) -> Any:
    """Have a request answered; return the ``Future`` of the answer.

    Raises:
        ToolError: of the request's kind: the function that answers fails, or returns no future.
    """
    from concurrent.futures import Future  # noqa: PLC0415 - loaded where answers come from

    kind = REQUEST_KINDS[type(request)]
    try:
        future = ask(request)
    except (ToolError, KeyboardInterrupt):
        raise
    except BaseException as error:
        raise kind.error(f"{kind.option} failed: {_in_words(error)}") from error
    if isinstance(future, Future):
        return future
    if isinstance(future, CoroutineType):
        future.close()  # or Python warns that it was never awaited
    words = f"a concurrent.futures.Future of {kind.answer}"
    raise kind.error(f"{kind.option} must return {words}, not {type(future).__name__!r}")


def answer_of(request: ClientRequest, future: Any) -> Any:
    """Return what has been answered; waits if it has not yet.

    Raises:
        ToolError: of the request's kind: the answer is of another kind, or the function failed.
        RunCancelledError: nobody wants to answer any more.
    """
    from concurrent.futures import CancelledError  # noqa: PLC0415 - it has made the future

    kind = REQUEST_KINDS[type(request)]
    try:
        answer = future.result()
    except CancelledError:
        raise RunCancelledError from None
    except (ToolError, RunCancelledError, KeyboardInterrupt):
        raise
    except BaseException as error:
        raise kind.error(f"{kind.option} failed: {_in_words(error)}") from error
    if not kind.is_answer(answer):
        raise kind.error(f"{kind.option} must answer {kind.answer}, not {answer!r:.80}")
    return answer


def _in_words(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def check_sendable(request: ClientRequest) -> None:
    """Refuse a request that can't be sent to a client.

    Raises:
        TypeError: there is something in it that is no JSON.
        ValueError: likewise a number or a text, or it is nested too deep.
    """
    try:
        json_text(request)
    except (TypeError, ValueError) as error:
        raise type(error)(f"no client can be asked this: {error}") from None


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
    """Return what a tool asks the client's model.

    Raises:
        ValueError: the prompt is neither a text nor a list of messages, or a number is none.
        TypeError: something is of another type.
    """
    check_count("max_tokens", max_tokens)
    check_given(check_text, system_prompt=system_prompt)
    check_given(check_number, temperature=temperature)
    stops = check_names("stop_sequences", stop_sequences, "texts")
    messages = messages_of(prompt)
    return SampleRequest(tool, messages, max_tokens, system_prompt, temperature, stops, str(key))


def messages_of(prompt: str | Sequence[Mapping[str, JSON]]) -> list[dict[str, JSON]]:
    """Return the messages of a prompt: a text of the user's, or messages of text or content.

    Raises:
        ValueError: it is neither.
    """
    given: Any = [{"role": "user", "content": prompt}] if isinstance(prompt, str) else prompt
    if not isinstance(given, list | tuple) or not given:
        raise ValueError(f"a prompt is a text or a list of messages, not {prompt!r:.80}")
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
                f"a message's content is a text or blocks of content, not {block!r:.80}"
            )
        messages.append({"role": message["role"], "content": block})
    return messages
