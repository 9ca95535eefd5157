"""The exceptions of turns that end without an answer."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Literal, TypeAlias

from sovl_tools.model.document import JSON
from sovl_tools.model.errors import SovlToolsError

ProviderErrorKind: TypeAlias = Literal[
    "authentication", "rate_limit", "bad_request", "overloaded", "connection", "timeout", "other"
]


class AgentError(SovlToolsError):
    """A turn that ended without an answer; the conversation can continue all the same.

    Attributes:
        text: the model's text until then.
    """

    def __init__(self, message: str, text: str = "") -> None:
        super().__init__(message)
        self.text = text


class RefusalError(AgentError):
    """The model refused to answer; ``text`` has its words."""


class LengthError(AgentError):
    """The answer was cut off, because it or the conversation got too long."""


class EmptyAnswerError(AgentError):
    """The answer has neither text nor calls."""


class RoundsError(AgentError):
    """The model continued calling tools beyond ``max_rounds``."""


class ProviderError(AgentError):
    """The provider is unreachable, or returned an error.

    Attributes:
        kind: what sort of error.
        status: the HTTP status; None if there was no answer, or an incomplete one.
        retry_after: seconds to wait before the next request; None if the provider did not
            say.
        is_retryable: whether the same may succeed later.
    """

    def __init__(
        self,
        message: str,
        kind: ProviderErrorKind = "other",
        *,
        status: int | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.status = status
        self.retry_after = retry_after
        self.is_retryable = kind in _RETRYABLE


# A bad_request or an authentication error would be the same at the next try.
_RETRYABLE = {"rate_limit", "overloaded", "connection", "timeout"}
_KINDS: dict[int, ProviderErrorKind] = {
    401: "authentication",
    403: "authentication",
    408: "timeout",
    429: "rate_limit",
    504: "timeout",
    529: "overloaded",
}
_CLIENTS = ("openai", "anthropic", "httpx", "httpx2")


@contextmanager
def reading_answer() -> Iterator[None]:
    """Read a provider's error, which doesn't always have the form that its API promises.

    Raises:
        ProviderError: it can't be read.
    """
    try:
        yield
    except (AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        raise _unreadable(error) from error


def _unreadable(error: BaseException) -> ProviderError:
    return ProviderError(f"the answer can't be read: {type(error).__name__}: {error}")


def provider_error(error: BaseException) -> ProviderError | None:
    """Return an exception of an SDK as ours; None if it is from elsewhere."""
    if isinstance(error, json.JSONDecodeError | UnicodeDecodeError | RecursionError):
        return _unreadable(error)
    # By the names of modules: no SDK is imported for an error of another.
    packages = {kind.__module__.split(".")[0] for kind in type(error).__mro__}
    if packages.isdisjoint(_CLIENTS) and not isinstance(error, ConnectionError):
        return None
    answered = getattr(error, "status_code", None)
    # An error in the middle of a stream has the status 200 of its beginning.
    status = answered if answered is not None and answered >= _WRONG else None
    headers: Mapping[str, str] = getattr(getattr(error, "response", None), "headers", {})
    said = _message_in(_error_object(error))
    message = said or str(error) or type(error).__name__
    if not said:
        # servers have other forms than OpenAI's, such as FastAPI's "detail"
        body = getattr(error, "body", None)
        told = body.get("detail") or body.get("error") if isinstance(body, dict) else body
        more = str(told or error.__cause__ or "")[:_MOST_DETAIL]  # it can be a page of HTML
        message = f"{message.removesuffix('.')}: {more}" if more else message
    return ProviderError(
        message, _kind(error, status), status=status, retry_after=_retry_after(headers)
    )


def reported_error(error: JSON) -> ProviderError:
    """Return an error that a provider sent in the middle of an answer, or instead of one."""
    words = error if isinstance(error, dict) else {"message": error}
    return ProviderError(
        _message_in(words) or "the provider failed", _kind_in(words) or "overloaded"
    )


def _error_object(error: Any) -> dict[str, JSON]:
    """Return the provider's error object, an empty one without an error."""
    body = getattr(error, "body", None)
    inner = body.get("error", body) if isinstance(body, dict) else None
    return inner if isinstance(inner, dict) else {}


def _message_in(words: dict[str, JSON]) -> str:
    said = words.get("message")
    return said if isinstance(said, str) else ""


def _kind(error: BaseException, status: int | None) -> ProviderErrorKind:
    if status is not None:
        default: ProviderErrorKind = "overloaded" if status >= _SERVER else "bad_request"
        return _KINDS.get(status, default)
    # A broken stream has no status, but mostly a message.
    kind = _kind_in(_error_object(error))
    if kind is not None:
        return kind
    # Each client has its own classes: APITimeoutError, ConnectTimeout, ReadTimeout, ...
    names = {each.__name__ for each in type(error).__mro__}
    if any("Timeout" in name for name in names):
        return "timeout"
    return "connection" if names & _LOST else "other"


_WRONG, _SERVER = 400, 500
_MOST_DETAIL = 200
NO_ANSWER = "there's no answer in the response"
_LOST = {"APIConnectionError", "ConnectionError", "TransportError"}
_TYPES: dict[str, ProviderErrorKind] = {
    "overloaded_error": "overloaded",
    "rate_limit_error": "rate_limit",
    "rate_limit_exceeded": "rate_limit",
    "api_error": "overloaded",
    "server_error": "overloaded",
    "timeout_error": "timeout",
    "permission_error": "authentication",
    "authentication_error": "authentication",
    "invalid_request_error": "bad_request",
}


def _kind_in(words: dict[str, JSON]) -> ProviderErrorKind | None:
    """Return the kind of an error by its words, as for an error in the middle of a stream."""
    found = (_TYPES.get(str(words.get(key))) for key in ("type", "code"))
    return next(filter(None, found), None)


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds in ``retry-after-ms`` or ``retry-after``."""
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    return _number(headers.get("retry-after"))


def _number(text: str | None) -> float | None:
    try:
        number = float(text or "")
    except ValueError:
        return None
    # float() also reads "nan" and "inf", which can't be waited for.
    return number if math.isfinite(number) and number >= 0 else None
