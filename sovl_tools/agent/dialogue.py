"""A conversation that needs no model: which tool, with which arguments, and what came of it.

A tool is found by its name, by its phrases or by a search; its arguments are read from
``key=value``, and each that is missing is asked for. What is waited for stands in the ``items`` of
the last message, so it is saved and restored with the conversation, and a tool that is loaded anew
meanwhile is asked about as it is then.
"""

from __future__ import annotations

from itertools import takewhile
from secrets import token_hex
from typing import NamedTuple

from sovl_tools.agent.answer import Answer, Call, Message, Prompt
from sovl_tools.agent.form import Form, pairs
from sovl_tools.agent.messages import text_of, whole
from sovl_tools.agent.selection import SEARCH
from sovl_tools.formats.messages import as_one_text, as_text
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.document import JSON
from sovl_tools.model.errors import ResolutionError, ToolNotFoundError
from sovl_tools.schema.messages import shown
from sovl_tools.search.words import words

_CHOICES = {"auto", "required", "none"}
_GREETINGS = {"", "hello", "hi", "help", "what can you do"}
_ENDS = {"never mind", "cancel", "stop"}
_QUOTES = ("'", '"')
_ENOUGH, _NEAR = 0.2, 0.05
"""The scores from which on a tool is found by its words alone, and named as one of the nearest."""

_MOST_TOOLS = 20
_MOST_LETTERS = 100


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


_TYPES = {"tool": str, "arguments": dict, "asking": str | None}


def replied(prompt: Prompt) -> Answer:
    """Return the answer to a conversation whose last message is a user's or a tool's."""
    messages = whole(prompt.messages)
    results = list(takewhile(lambda each: each["role"] == "tool", reversed(messages)))
    if results:
        texts = [as_one_text(each["content"]) for each in reversed(results)]
        return Answer("\n".join(each or "Done, without a result." for each in texts))
    text = text_of(messages[-1]["content"]).encode(errors="replace").decode().strip()
    dialogue = _Dialogue(prompt, text)
    pending = _pending(messages[-2]) if len(messages) > 1 else None
    if pending is None or prompt.choice not in {*_CHOICES, pending.tool}:
        return dialogue.begun()
    return dialogue.begun() if dialogue.names_a_tool() else dialogue.continued(pending)


def _pending(message: Message) -> Pending | None:
    """Return what a message waits for, if it is one of ours and asks for something."""
    items = message.get("items") if message.get("provider") == "local" else None
    item = items[0] if isinstance(items, list) and items else None
    if not isinstance(item, dict) or item.keys() != _TYPES.keys():
        return None
    is_sound = all(isinstance(item[key], kind) for key, kind in _TYPES.items())
    return Pending(**item) if is_sound else None


class _Dialogue:
    """What is said in return to one text."""

    def __init__(self, prompt: Prompt, text: str) -> None:
        self._prompt = prompt
        self._text = text
        self._spoken = " ".join(words(text)) if text[:1] not in _QUOTES else text
        known = {name: prompt.registry.get(name) for name in prompt.offered if name != SEARCH}
        self._tools = {name: tool for name, tool in known.items() if tool is not None}

    def names_a_tool(self) -> bool:
        """Tell whether a tool is asked for; in quotes its name is a value."""
        return self._text[:1] not in _QUOTES and self._named(pairs(self._text)[1]) is not None

    def begun(self) -> Answer:
        """Return what is said to somebody who wants something new."""
        written, rest = pairs(self._text)
        is_required = self._prompt.choice == "required"
        name = self._prompt.choice if self._prompt.choice not in _CHOICES else self._named(rest)
        is_certain = name is not None or is_required
        near = self._near(rest)
        if name is None and is_required:
            name = next(iter(near or self._tools), None)
        elif name is None and self._spoken not in _GREETINGS:
            name = next((each for each, score in near.items() if score >= _ENOUGH), None)
        if name is None:
            return Answer(self._overview(near))
        try:
            form = Form(self._prompt.registry[name])
        except (ToolNotFoundError, ResolutionError) as error:
            return Answer(f"{name} can't be called just now: {error}.")
        arguments = {key: form.read(key, value) for key, value in written.items()}
        is_sure = is_certain or (bool(arguments) and not form.tool.annotations.get("destructive"))
        return self._settled(form, arguments, _introduction(form), is_sure=is_sure)

    def continued(self, pending: Pending) -> Answer:
        """Return what comes after an answer to a question."""
        name, known, asking = pending
        if self._spoken in (_ENDS if asking else {"no", *_ENDS}):
            return Answer(f"All right, {name} is not called.")
        written, rest = pairs(self._text)
        try:
            form = Form(self._prompt.registry[name])
        except (ToolNotFoundError, ResolutionError) as error:
            return Answer(f"{name} can't be called any more: {error}.")
        if not (name in self._tools or SEARCH in self._prompt.offered):
            return _asking(pending, f"{name} can't be called in this turn.")
        if written and not rest and written.keys() <= form.properties.keys():
            named = {key: form.read(key, value) for key, value in written.items()}
            return self._settled(form, known | named)
        if asking is None:
            return self._settled(form, known) if self._spoken == "yes" else self.begun()
        return self._answered(form, known, asking)

    def _answered(self, form: Form, known: dict[str, JSON], name: str) -> Answer:
        if name not in form.properties:
            known = {key: each for key, each in known.items() if key in form.properties}
            return self._settled(form, known, f"{form.tool.name} has changed and takes no {name}.")
        return self._settled(form, {**known, name: form.read(name, self._text)})

    def _named(self, text: str) -> str | None:
        """Return the tool whose name or phrase is said; of several that of the most words."""
        said = set(words(text))
        lengths = {name: 1 for name in self._tools if name.casefold() in said}
        for match in self._prompt.registry.match(text):
            if match.tool in self._tools:
                length = len(words(text[match.start : match.end]))
                lengths[match.tool] = max(length, lengths.get(match.tool, 0))
        return max(lengths, key=lambda name: lengths[name], default=None)

    def _near(self, text: str) -> dict[str, float]:
        """Return the tools that have words of a text, the best first, with their scores."""
        found = self._prompt.registry.search(text, limit=None)
        return {each.tool: each.score for each in found if each.tool in self._tools}

    def _overview(self, near: dict[str, float]) -> str:
        """Return which tools there are, the nearest alone if something was wanted."""
        if not self._tools:
            return "There are no tools to call."
        listed = [name for name, score in near.items() if score >= _NEAR]
        head = "No tool fits that. The nearest are:"
        if self._spoken in _GREETINGS or not listed:
            listed = [*self._tools]
            head = "These tools are here:"
            head = head if self._spoken in _GREETINGS else f"No tool fits that. {head}"
        lines = [f"- {each}: {_first_sentence(self._tools[each])}" for each in listed[:_MOST_TOOLS]]
        more = len(listed) - _MOST_TOOLS
        lines += [f"- and {more} more"] if more > 0 else []
        end = "Say the name of one or a phrase, and arguments as key=value; I ask for what lacks."
        return _lines(head, *lines, end)

    def _settled(
        self, form: Form, arguments: dict[str, JSON], head: str = "", *, is_sure: bool = True
    ) -> Answer:
        """Return the call, or what is asked before it can be made.

        Arguments that do not fit are told and asked for, one after the other.
        """
        name = form.tool.name
        problems = form.problems(arguments)
        unfit = {each.parameter for each in problems if each.parameter in arguments}
        kept = {key: value for key, value in arguments.items() if key not in unfit}
        told = [f"{each.words}." for each in problems if each.parameter in unfit]
        lacking = form.problems(kept) if unfit else problems
        open_ = [each for each in form.properties if each in unfit]
        open_ += [each.parameter for each in lacking if each.parameter in form.properties]
        call = f"{name}({', '.join(f'{key}={shown(value)}' for key, value in kept.items())})"
        if open_:
            asked, waits_for = form.question(open_[0]), open_[0]
        elif lacking:
            why = "; ".join(each.words for each in lacking)
            return Answer(_lines(head, f"{name} can't be called like this: {why}."))
        elif self._prompt.choice == "none":
            asked, waits_for = f"{call} could be called, but not in this turn.", None
        elif unfit or not is_sure:
            asked, waits_for = f"Shall I call {call}? (yes or no)", None
        else:
            return Answer("", (Call(f"call_{token_hex(8)}", name, as_text(kept)),), "calls")
        return _asking(Pending(name, kept, waits_for), _lines(head, *told, asked))


def _asking(pending: Pending, text: str) -> Answer:
    return Answer(text, items=(pending._asdict(),))


def _introduction(form: Form) -> str:
    """Return which tool is proposed, what it does and what else it takes."""
    tool = form.tool
    title = f"{tool.name} ({tool.title})" if tool.title else tool.name
    required = tool.parameters.get("required", ())
    optional = [name for name in form.properties if name not in required]
    more = f"Optional, as key=value: {', '.join(optional)}." if optional else ""
    return _lines(f"{title}: {_first_sentence(tool)}", more)


def _first_sentence(tool: ToolDefinition) -> str:
    line = " ".join(tool.description.split())
    end = line.find(". ")
    line = line if end < 0 else line[: end + 1]
    return line if len(line) <= _MOST_LETTERS else f"{line[: _MOST_LETTERS - 1]}…"


def _lines(*texts: str) -> str:
    return "\n".join(filter(None, texts))
