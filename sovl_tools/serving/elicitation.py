"""Questions of a running tool to the user of a client, in both eras of the protocol.

In the handshake era a question is a request to the client, and the call goes on with the answer.
Since 2026-07-28 the server asks nothing: the call ends with a result that says what input it
needs, and the client calls again with it. The tool then runs from its beginning, and gets the
answers that there are; so it has to be idempotent.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from concurrent.futures import Future
from typing import Any, NamedTuple

from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, CallToolRequestParams, ElicitResult
from pydantic import ValidationError

from sovl_tools.model.call import Answer, Question
from sovl_tools.model.document import JSON
from sovl_tools.model.errors import ElicitationError, SchemaError
from sovl_tools.registry import ToolRegistry
from sovl_tools.schema.engine import compile_schema
from sovl_tools.schema.problem import describe
from sovl_tools.serving.mcp_calls import is_modern


class Answered(NamedTuple):
    """A question that has been answered.

    Attributes:
        digest: of the question; another one in its place is asked anew.
        answer: the client's own form of the answer, or None while it is waited for.
        key: what the client sends the answer under.
    """

    digest: str
    answer: dict[str, JSON] | None
    key: str


class Elicitation:
    """Asks the user of a client for one call.

    Attributes:
        pending: the question for which the client has to call again; None if there is none.
    """

    def __init__(
        self,
        ctx: ServerRequestContext[Any, Any],
        params: CallToolRequestParams,
        tool: str,
        registry: ToolRegistry,
    ) -> None:
        """Make what asks for a call of that tool.

        Raises:
            MCPError: the client sends a state that it was not given.
        """
        self.pending: Question | None = None
        self._ctx = ctx
        self._tool = tool
        self._registry = registry
        self._loop = asyncio.get_running_loop()
        self._answered = _answered(params)
        self._given = params.input_responses or {}
        self._count = 0
        self._task = asyncio.current_task()
        self._cancelling = 0 if self._task is None else self._task.cancelling()

    def ask(self, question: Question) -> Future[Answer]:
        """Ask, in any thread."""
        return asyncio.run_coroutine_threadsafe(self._ask(question), self._loop)

    async def _ask(self, question: Question) -> Answer:
        known = self._ctx.session.client_capabilities
        forms = None if known is None else known.elicitation
        # a client that says nothing of forms and nothing of addresses knows forms
        if forms is None or (forms.form is None and forms.url is not None):
            raise ElicitationError("the client can't ask its user")
        if is_modern(self._ctx):
            return await self._replayed(question)
        if not self._ctx.session.can_send_request:
            words = "the connection carries no questions to the client"
            raise ElicitationError(f"{words}: it is without sessions, or answers with JSON alone")
        try:
            result = await self._ctx.session.elicit_form(
                question.message, question.schema, self._ctx.request_id
            )
        except (MCPError, ValidationError) as error:
            raise ElicitationError(f"the client did not ask its user: {error}") from error
        return _fitting(question, result)

    async def _replayed(self, question: Question) -> Answer:
        """Return the answer that the client has sent, or end the call to get it."""
        for name in {self._tool, question.tool}:
            self._refuse_unless_repeatable(name)
        number, digest = self._count, _digest(question)
        self._count += 1
        if number < len(self._answered):
            answered = self._answered[number]
            if answered.digest == digest and answered.answer is not None:
                return _fitting(question, ElicitResult.model_validate(answered.answer))
            # the tool asks something else than before: what follows is no answer to it either
            del self._answered[number:]
        given = self._given.get(question.key) if question.key else None
        if isinstance(given, ElicitResult):  # the client knows the question by its key
            self._answered.append(Answered(digest, _form(given), question.key))
            return _fitting(question, given)
        if self.pending is None and self._task is not None:
            self.pending = question
            self._answered.append(Answered(digest, None, question.key or str(number + 1)))
            self._task.cancel()
        # until the call has ended
        await asyncio.Event().wait()
        raise AssertionError

    def _refuse_unless_repeatable(self, name: str) -> None:
        tool = self._registry.get(name)
        annotations = {} if tool is None else tool.annotations
        if not (annotations.get("idempotent") or annotations.get("read_only")):
            words = f"the client would have to call again with the answer, and {name} may not run"
            advice = 'say "idempotent": true in its annotations if it may'
            raise ElicitationError(f"{words} twice: {advice}")

    def input_required(self) -> dict[str, JSON] | None:
        """Return the result that asks the client for input, if that is what has ended the call.

        It is to be asked where the task was cancelled.
        """
        if self.pending is None or self._task is None:
            return None
        if self._task.uncancel() > self._cancelling:
            return None  # somebody else has cancelled it as well
        params = {"mode": "form", "message": self.pending.message}
        request = {
            "method": "elicitation/create",
            "params": {**params, "requestedSchema": self.pending.schema},
        }
        return {
            "resultType": "input_required",
            "inputRequests": {self._answered[-1].key: request},
            "requestState": json.dumps(self._answered),
        }


def _digest(question: Question) -> str:
    text = json.dumps(question, sort_keys=True, default=str)
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:16]


def _answered(params: CallToolRequestParams) -> list[Answered]:
    """Return what has been asked and answered, from what the client sends with its call.

    A client may answer as it likes, so its state needs no seal.

    Raises:
        MCPError: it is none.
    """
    if params.request_state is None:
        return []
    try:
        found = json.loads(params.request_state)
        answered = [Answered(str(digest), answer, str(key)) for digest, answer, key in found]
        for each in answered[:-1]:
            ElicitResult.model_validate(each.answer)
    except (ValueError, TypeError, RecursionError) as error:
        raise MCPError(INVALID_PARAMS, "requestState is none of this server's") from error
    if answered:
        last = answered.pop()
        response = (params.input_responses or {}).get(last.key)
        if isinstance(response, ElicitResult):
            answered.append(last._replace(answer=_form(response)))
    return answered


def _form(answer: ElicitResult) -> dict[str, JSON]:
    return answer.model_dump(by_alias=True, mode="json", exclude_none=True)


def _fitting(question: Question, result: ElicitResult) -> Answer:
    """Return an answer.

    Raises:
        ElicitationError: what was filled in does not fit the question.
    """
    if result.action != "accept":
        return Answer(result.action)
    content: dict[str, JSON] = {**(result.content or {})}
    try:
        problems = compile_schema(question.schema).problems(content)
    except SchemaError as error:
        raise ElicitationError(f"the schema of the question can't be used: {error}") from error
    if problems:
        raise ElicitationError(f"the answer does not fit the question: {describe(problems[0])}")
    return Answer("accept", content)
