"""A conversation that needs no model: which tool, with which arguments, and what came of it.

What it waits for stands in the ``items`` of its last message, so it is saved and restored with the
conversation, and a tool that is loaded anew meanwhile is asked about as it is then.
"""

from __future__ import annotations

from collections.abc import Sequence
from secrets import token_hex
from typing import NamedTuple

from sovl_tools.agent.answer import Answer, Call, Message, Prompt
from sovl_tools.agent.finding import CHOICES, mentioned, near, wanted
from sovl_tools.agent.form import Form
from sovl_tools.agent.gleaning import gleaned, pairs
from sovl_tools.agent.messages import as_text, text_of, whole
from sovl_tools.agent.phrasing import called, introduction, overview, question, result, unfound
from sovl_tools.agent.selection import SEARCH
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.document import JSON
from sovl_tools.model.errors import ResolutionError, ToolNotFoundError
from sovl_tools.search.words import words

_GREETINGS = {
    "hello", "hi", "hey", "good morning", "good evening", "help", "help me", "what can you do",
    "what tools are there", "which tools are there", "what tools do you have", "list tools",
    "list the tools", "list all tools", "show tools", "show the tools", "tools",
}  # fmt: skip
_ENDS = {"never mind", "nevermind", "cancel", "stop", "forget it", "abort"}
_YES = {"yes", "y", "yes please", "ok", "okay", "sure", "go ahead", "do it", "please do"}
_NO = {"no", "n", "no thanks", "not now", *_ENDS}


class Pending(NamedTuple):
    """What an answer of the user is waited for.

    Attributes:
        tool: the name of the tool that is going to be called.
        arguments: those that are known, each fit when it was given.
        asking: the name of the argument that was asked for; None if it was asked whether to call.
    """

    tool: str
    arguments: dict[str, JSON]
    asking: str | None


_KINDS = {"tool": str, "arguments": dict, "asking": str | None}


def replied(prompt: Prompt) -> Answer:
    """Return the answer to a conversation whose last message is a user's or a tool's."""
    messages = whole(prompt.messages)
    results = list(_results(messages))
    if results:
        return Answer(result(results))
    text = text_of(messages[-1]["content"]).encode(errors="replace").decode().strip()
    pending = _pending(messages[-2]) if len(messages) > 1 else None
    dialogue = _Dialogue(prompt, text)
    if pending is None or prompt.choice not in {*CHOICES, pending.tool}:
        return dialogue.begun()
    return dialogue.continued(pending)


def _results(messages: Sequence[Message]) -> list[Message]:
    """Return the messages of tools at the end of a conversation."""
    last = next(
        (index for index in reversed(range(len(messages))) if messages[index]["role"] != "tool"), -1
    )
    return list(messages[last + 1 :])


def _pending(message: Message) -> Pending | None:
    """Return what a message waits for, if it is one of ours and asks for something."""
    items = message.get("items") if message.get("provider") == "local" else None
    item = items[0] if isinstance(items, list) and items else None
    if not isinstance(item, dict) or item.keys() != set(Pending._fields):
        return None
    is_sound = all(isinstance(item[key], kind) for key, kind in _KINDS.items())
    return Pending(**item) if is_sound else None


class _Dialogue:
    """What is said in return to one text."""

    def __init__(self, prompt: Prompt, text: str) -> None:
        self._prompt = prompt
        self._text = text
        self._spoken = "" if text[:1] in ("'", '"') else " ".join(words(text))

    def continued(self, pending: Pending) -> Answer:
        """Return what comes after an answer to a question."""
        if self._spoken in (_ENDS if pending.asking else _NO):
            return Answer(f"All right, {pending.tool} is not called.")
        try:
            form = self._form(pending.tool)
        except (ToolNotFoundError, ResolutionError) as error:
            return Answer(f"{pending.tool} can't be called any more: {error}.")
        if not self._may(pending.tool):
            return Answer(f"{pending.tool} can't be called in this turn.", items=_items(pending))
        named = None if self._is_object(form, pending.asking) else pairs(form, self._text)
        if named is not None:
            return self._settled(form, {**pending.arguments, **named})
        if pending.asking is None:
            is_yes = self._spoken in _YES
            return self._settled(form, pending.arguments, is_sure=True) if is_yes else self.begun()
        return self._answered(form, pending.arguments, pending.asking)

    def _is_object(self, form: Form, name: str | None) -> bool:
        """Tell whether the text is an object for a parameter, and not one of arguments."""
        if name not in form.properties or not self._text.startswith("{"):
            return False
        value = form.read(name, self._text)
        return isinstance(value, dict) and form.is_fit(name, value)

    def _answered(self, form: Form, arguments: dict[str, JSON], name: str) -> Answer:
        if name not in form.properties:
            known = {key: each for key, each in arguments.items() if key in form.properties}
            return self._settled(form, known, f"{form.name} has changed and takes no {name}.")
        schema = form.schema(name)
        is_default = self._spoken == "default" and "default" in schema
        value = schema["default"] if is_default else form.read(name, self._text)
        if not form.is_fit(name, value) and self._speaks_of_another(form.name):
            return self.begun()
        return self._settled(form, {**arguments, name: value})

    def _speaks_of_another(self, name: str) -> bool:
        found = mentioned(self._prompt.registry, self._tools(), self._text)
        return bool(found) and found[0].name != name

    def _tools(self) -> list[ToolDefinition]:
        return [tool for name in self._prompt.offered if (tool := self._tool(name)) is not None]

    def begun(self) -> Answer:
        """Return what is said to somebody who wants something new."""
        tools = self._tools()
        found = wanted(self._prompt, tools, self._text)
        is_greeting = self._spoken in _GREETINGS and self._prompt.choice != "required"
        if found is None or (is_greeting and not found.is_certain):
            return Answer(self._lost(tools))
        try:
            form = self._form(found.name)
        except (ToolNotFoundError, ResolutionError) as error:
            return Answer(f"{found.name} can't be called just now: {error}.")
        arguments = gleaned(form, self._text, found.spans)
        is_sure = found.is_certain or self._prompt.choice == "required"
        is_harmless = not form.tool.annotations.get("destructive")
        is_sure |= bool(arguments) and is_harmless
        return self._settled(form, arguments, introduction(form), is_sure=is_sure)

    def _lost(self, tools: Sequence[ToolDefinition]) -> str:
        """Return what is said when no tool seems to be wanted."""
        if self._spoken in _GREETINGS or not self._text:
            return overview(tools)
        return unfound(near(self._prompt.registry, tools, self._text), tools)

    def _settled(
        self, form: Form, arguments: dict[str, JSON], head: str = "", *, is_sure: bool = True
    ) -> Answer:
        """Return the call, or what is asked before it can be made.

        Arguments that do not fit are told and asked for, one after the other.
        """
        problems = form.problems(arguments)
        unfit = {each.parameter for each in problems if each.parameter in arguments}
        kept = {key: value for key, value in arguments.items() if key not in unfit}
        told = [_ended(each.words) for each in problems if each.parameter in unfit]
        problems = form.problems(kept) if unfit else problems
        open_ = [name for name in form.properties if name in unfit]
        open_ += [each.parameter for each in problems if each.parameter in form.properties]
        if open_:
            asked = question(form, open_[0])
            return _asking(Pending(form.name, kept, open_[0]), _lines(head, *told, asked))
        if problems:
            why = _ended("; ".join(each.words for each in problems))
            return Answer(_lines(head, f"{form.name} can't be called like this: {why}"))
        if unfit or not is_sure:
            asked = f"Shall I call {called(form, kept)}? (yes or no)"
            return _asking(Pending(form.name, kept, None), _lines(head, *told, asked))
        return self._called(form, kept)

    def _called(self, form: Form, arguments: dict[str, JSON]) -> Answer:
        if self._prompt.choice == "none":
            text = f"{called(form, arguments)} could be called, but not in this turn."
            return _asking(Pending(form.name, arguments, None), text)
        call = Call(f"call_{token_hex(8)}", form.name, as_text(arguments))
        return Answer("", (call,), "calls")

    def _form(self, name: str) -> Form:
        return Form(self._prompt.registry[name])

    def _tool(self, name: str) -> ToolDefinition | None:
        return None if name == SEARCH else self._prompt.registry.get(name)

    def _may(self, name: str) -> bool:
        """Tell whether a tool may be called: all may where only a selection is offered."""
        offered = self._prompt.offered
        return name in offered or (SEARCH in offered and name in self._prompt.registry)


def _asking(pending: Pending, text: str) -> Answer:
    return Answer(text, items=_items(pending))


def _items(pending: Pending) -> tuple[JSON, ...]:
    return (pending._asdict(),)


def _lines(*texts: str) -> str:
    return "\n".join(filter(None, texts))


def _ended(text: str) -> str:
    """Return a message as a sentence."""
    return text if text.endswith(("?", "…")) else f"{text}."
