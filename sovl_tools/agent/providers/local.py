"""The provider ``local``: it answers without key and network, by phrases, search and ``key=value``.

Each missing value is a question to the user. The open question is in the ``items`` of the last
message, so that it is saved with the conversation.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from itertools import takewhile
from secrets import token_hex
from textwrap import shorten
from types import MappingProxyType
from typing import Any

from sovl_tools.agent.answer import Answer, Call, Prompt
from sovl_tools.agent.history import text_of, with_all_results
from sovl_tools.agent.toolbox import SEARCH
from sovl_tools.dispatch.arguments import ArgumentCheck, Unparsed, parse_arguments
from sovl_tools.dispatch.repair import repair_arguments
from sovl_tools.formats.messages import as_one_text, as_text
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.document import JSON, json_path
from sovl_tools.model.errors import ResolutionError
from sovl_tools.schema.engine import compile_schema
from sovl_tools.schema.keywords import OF_SEVERAL_PROPERTIES
from sovl_tools.schema.problem import shown
from sovl_tools.search.words import words

FORMAT = "json-schema"
STREAM: dict[str, Any] = {}

_GREETINGS = {"", "hello", "hi", "help", "what can you do"}
_ENDS = {"never mind", "cancel", "stop"}
_LEAVING = 'Say "never mind" to leave it.'
_FILLERS = frozenset(
    re.findall(
        r"\w+",
        "a an and any are at can could do does for get give have how i in is it "
        "let like me my now of on or please right s show some t tell that the there this to "
        "us want what when where which who will with would you your",
    )
)
"""Words that aren't the value of an argument."""

_SENTENCE = re.compile(
    r"(?:i|i'm|please|can|could|would|what|which|how|why|who|when|where|tell|show|give)\s+\S+\s+\S"
    r"|\S+\s+\S.*\?$",
    re.IGNORECASE,
)
"""Phrases by which a user leaves a question."""

_QUOTES = ("'", '"')
# key=value, at the beginning of a word; a value with blanks is in quotes of either kind.
_PAIR = re.compile(r'(?<!\S)([^\W\d]\w*)=("(?:[^"\\]|\\.)*"|\'[^\']*\'|\S+)')
_MOST_LISTED = 20
_MOST_NEAR = 3


def method(client: Any) -> Callable[..., Any]:  # noqa: ARG001 - it needs no client
    """Return the function that answers, instead of a client's method."""
    return _respond


def body(prompt: Prompt) -> dict[str, Any]:
    """Return the request itself."""
    return {"prompt": prompt}


def parse_answer(response: tuple[Answer]) -> Answer:
    """Return the answer, which is the whole of a stream."""
    return response[0]


class Draft:
    """An answer that is coming in, in one piece."""

    def __init__(self, _offered: Collection[str] = ()) -> None:
        self.text, self._answer = "", Answer()

    def feed(self, chunk: Answer) -> str:
        """Take the answer in."""
        self._answer, self.text = chunk, chunk.text
        return self.text

    def answer(self) -> Answer:
        """Return the answer."""
        return self._answer


def _respond(*, prompt: Prompt) -> tuple[Answer]:
    messages = with_all_results(prompt.messages)
    results = [*takewhile(lambda each: each["role"] == "tool", reversed(messages))][::-1]
    if results:
        texts = [as_one_text(each["content"]) or "Done, without a result." for each in results]
        return (Answer("\n".join(texts)),)
    # Halves of characters become question marks, since a search could not compare them.
    text = text_of(messages[-1]["content"]).encode(errors="replace").decode().strip()
    before = messages[-2] if len(messages) > 1 else {}
    pending = None
    # The message can be from a file with anything in it.
    match before.get("provider"), before.get("items"):
        case "local", [{"tool": str(), "arguments": dict(), "asking": str() | None} as it, *_]:
            pending = it
    try:
        return (_Dialogue(prompt, text).answer(pending),)
    except ResolutionError as error:
        return (Answer(f"It can't be called just now: {error}."),)


class _Dialogue:
    """The answer to one string."""

    def __init__(self, prompt: Prompt, text: str) -> None:
        self._prompt = prompt
        self._text = text
        # In quotes the name of a tool and the words that end something are values.
        self._spoken = " ".join(words(text)) if text[:1] not in _QUOTES else text
        self._written = {pair[1]: pair[2].rstrip(",;") for pair in _PAIR.finditer(text)}
        self._rest = _PAIR.sub("", text).strip(" ,;\n\t")
        self._is_pairs = bool(self._written) and not self._rest
        known = {name: prompt.registry.get(name) for name in prompt.offered if name != SEARCH}
        self._tools = {name: tool for name, tool in known.items() if tool is not None}

    def answer(self, pending: dict[str, Any] | None) -> Answer:
        """Return the call, or the next question before it can be made."""
        # The tool whose name or phrase is in the text; of several the one with the most words.
        rest = self._rest if self._text[:1] not in _QUOTES else ""
        said = [(1, name, name) for name in self._tools if name.casefold() in words(rest)]
        matches = [each for each in self._prompt.registry.match(rest) if each.tool in self._tools]
        phrases = {(each.tool, rest[each.start : each.end]): each.arguments for each in matches}
        said += [(len(words(phrase)), tool, phrase) for tool, phrase in phrases]
        _, named, phrase = max(said, key=lambda each: each[0], default=(0, None, ""))
        if pending is not None and named is None and pending["tool"] in self._prompt.registry:
            is_asking = pending["asking"] is not None
            if self._spoken in (_ENDS if is_asking else {"no", *_ENDS}):
                return Answer(f"All right, {pending['tool']} is not called.")
            if is_asking or self._is_pairs or self._spoken == "yes":
                return self._fill(pending["tool"], pending, is_sure=True)
        if pending is None and self._spoken in _ENDS:
            return Answer("All right.")
        name = named or (self._prompt.choice if self._prompt.choice in self._tools else None)
        is_sure = name is not None and not self._says_more(name, phrase)
        if name is None and self._spoken not in _GREETINGS:
            near = [each.tool for each in self._prompt.registry.suggest(self._rest, limit=None)]
            name = next((each for each in near if each in self._tools), None)
        if name is not None:
            taken = phrases.get((name, phrase), {})
            return self._fill(name, None, is_sure=is_sure, taken=taken)
        if not self._tools:
            return Answer("There are no tools to call.")
        is_greeting = self._spoken in _GREETINGS
        nearest = [] if is_greeting else self._nearest()[:_MOST_NEAR]
        head = "No tool fits well; nearest:" if nearest else "These tools are here:"
        shown = nearest or self._tools
        lines = [f"- {name}: {_first_sentence(self._tools[name])}" for name in shown]
        if len(lines) > _MOST_LISTED:
            lines[_MOST_LISTED:] = [f"- and {len(lines) - _MOST_LISTED} more"]
        if not nearest and not is_greeting:
            head = f"No tool matches that. {head}"
        end = "Say the name of one or a phrase, and arguments as key=value; I ask for what lacks."
        return Answer("\n".join([head, *lines, end]))

    def _nearest(self) -> list[str]:
        """Return the tools that a search finds, however little speaks for them."""
        found = self._prompt.registry.search(self._rest, limit=None)
        return [each.tool for each in found if each.tool in self._tools]

    def _says_more(self, name: str, phrase: str) -> bool:
        """Return whether the user says more than a tool's phrase, which can be for an argument."""
        more = {*words(self._rest)} - {*words(phrase)} - _FILLERS
        return bool(more) and not self._written and bool(_optional(self._tools.get(name)))

    def _fill(
        self,
        name: str,
        pending: dict[str, Any] | None,
        *,
        is_sure: bool,
        taken: Mapping[str, JSON] = MappingProxyType({}),
    ) -> Answer:
        """Return the call, or the problem of an argument and a question for it.

        ``taken`` are arguments from the slots of a phrase.
        """
        form, lines = _Form(self._prompt.registry[name]), []
        written = {key: form.read(key, value) for key, value in self._written.items()}
        if pending is None:
            arguments, tool = {**taken, **written}, form.tool
            # A search can be wrong; arguments say that the user meant this one.
            is_sure = is_sure or (bool(written) and not tool.annotations.get("destructive"))
            lines.append(f"{name}: {_first_sentence(tool)}")
            if optional := _optional(tool):
                lines.append(f"Optional, as key=value: {', '.join(optional)}.")
        else:
            # Loaded again meanwhile, the tool may lack the parameter in question, or a given one.
            arguments = {k: v for k, v in pending["arguments"].items() if k in form.properties}
            if self._is_pairs and written.keys() <= form.properties.keys():
                arguments |= written
            elif (asking := pending["asking"]) in form.properties:
                if form.is_text(asking) and _SENTENCE.match(self._text):
                    advice = f"If that is what {asking} is, say it in quotes."
                    return Answer(f"{advice} {_LEAVING}", items=(pending,))
                arguments[asking] = form.read(asking, self._text)
        problems = form.problems(arguments)
        unfit = [each for each in problems if each in arguments]
        # Valid values are kept: the user gives one value again, not all of them.
        kept = {key: value for key, value in arguments.items() if key not in unfit}
        lines += (f"{problems[each]}." for each in unfit)
        # Without the invalid ones there can be other problems, such as that one of them is
        # required.
        lacking = form.problems(kept) if unfit else problems
        asking = next((each for each in (*unfit, *lacking) if each in form.properties), None)
        if asking is not None:
            lines.append(form.question(asking))
            if pending is None:
                lines.append(_LEAVING)
        elif lacking:
            why = "; ".join(lacking.values())
            return Answer("\n".join([*lines, f"{name} can't be called like this: {why}."]))
        # An argument that isn't a parameter at all was dropped; the user sees the rest first.
        elif unfit or not is_sure or self._prompt.choice == "none":
            shown_arguments = ", ".join(f"{key}={shown(value)}" for key, value in kept.items())
            lines.append(f"Shall I call {name}({shown_arguments})? (yes or no)")
        else:
            return Answer("", (Call(f"call_{token_hex(8)}", name, as_text(kept)),), "calls")
        pending = {"tool": name, "arguments": kept, "asking": asking}
        return Answer("\n".join(lines), items=(pending,))


def _optional(tool: ToolDefinition | None) -> list[str]:
    """Return the names of the parameters that can be omitted."""
    parameters = {} if tool is None else tool.parameters
    required = parameters.get("required", ())
    return [each for each in parameters.get("properties", {}) if each not in required]


def _first_sentence(tool: ToolDefinition) -> str:
    sentence = re.split(r"(?<=\.)\s", tool.description.strip(), maxsplit=1)[0]
    return shorten(sentence, 100, placeholder="…")


class _Form:
    """The parameters of a tool, which are filled in one at a time."""

    def __init__(self, tool: ToolDefinition) -> None:
        self.tool = tool.resolve()
        parameters = self.tool.parameters
        self.properties: dict[str, Any] = parameters.get("properties", {})
        self._check = ArgumentCheck(self.tool)
        # One argument at a time: a rule between several has no single question.
        single = {key: each for key, each in parameters.items() if key not in OF_SEVERAL_PROPERTIES}
        self._single = compile_schema(single)

    def read(self, name: str, text: str) -> JSON:
        """Return the value that a string means for a parameter, or the value it looks like."""
        # The text itself first: repairing makes numbers and dates of it where the schema says so.
        candidates: list[JSON] = [_unquoted(text)]
        if text.casefold() in {"yes", "no"}:
            candidates.append(text.casefold() == "yes")
        if not text.startswith(("[", "{")):
            candidates.append([_unquoted(part.strip()) for part in text.split(",")])
        repaired = (repair_arguments({name: each}, self._single) for each in candidates)
        for found, _ in filter(None, repaired):
            return found[name]
        problems = self._single.problems({name: text})
        value = parse_arguments(text) if any(each.keyword == "type" for each in problems) else text
        return text if isinstance(value, Unparsed) else value

    def is_text(self, name: str) -> bool:
        """Return whether a parameter takes any string."""
        schema = self.properties[name]
        return isinstance(schema, dict) and schema.get("type") == "string" and "enum" not in schema

    def problems(self, arguments: dict[str, JSON]) -> dict[str, str]:
        """Return the problem of each argument, in order; "" has those of all together."""
        found: dict[str, str] = {}
        for path, message in getattr(self._check(arguments), "details", ()):
            place = path.removeprefix("$").removeprefix(".")
            names = (*self.properties, *arguments)
            # The longest: "$.ab" begins with "$.a", too.
            above = [each for each in names if path.startswith(json_path((each,)))]
            name = max(above, key=len, default="")
            found.setdefault(name, f"{place}: {message}" if place else message)
        return {key: found[key] for key in (*self.properties, *found) if key in found}

    def question(self, name: str) -> str:
        """Return the question for an argument: its kind, its description, its choices."""
        schema = found if isinstance(found := self.properties[name], dict) else {}
        types = schema.get("type", [])
        kind = " or ".join([types] if isinstance(types, str) else types)
        if isinstance(options := schema.get("enum"), list):
            listed = [each if isinstance(each, str) else shown(each) for each in options]
            listed[_MOST_LISTED:] = ["…"] if len(listed) > _MOST_LISTED else []
            kind = f"one of {', '.join(listed)}"
        described = " ".join(str(schema.get("description") or schema.get("title") or "").split())
        question = (f"{name} ({kind})" if kind else name) + (f": {described}" if described else "")
        return question if question.endswith((".", "!", "?", "…")) else f"{question}?"


def _unquoted(text: str) -> str:
    """Return the string that a string spells as JSON or in single quotes, or the text."""
    if len(text) > 1 and text[0] == text[-1] == "'" and "'" not in text[1:-1]:
        return text[1:-1]
    found = parse_arguments(text) if text[:1] == '"' else text
    return found if isinstance(found, str) else text
