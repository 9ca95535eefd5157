"""The arguments that stand in what somebody says, as far as there is one way to read them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from json.decoder import JSONDecoder
from typing import NamedTuple

from sovl_tools.agent.form import Form, unquoted
from sovl_tools.model.document import JSON
from sovl_tools.running.given import Unparsed, parsed
from sovl_tools.search.words import words

_QUOTED = re.compile(r"\"(?:[^\"\\]|\\.)*\"|(?<!\w)'[^']*'(?!\w)|“[^”]*”|«[^»]*»")
_NUMBER = re.compile(r"(?<![\w.:/,-])-?(?:\d+\.)?\d+(?:[eE][+-]?\d+)?(?![\w:/-]|[.,]\d)")
_GROUPED = re.compile(r"\d,\d")
_PAIR = re.compile(r"[^\W\d]\w*\s*=\s*\S+")
_NUMERIC = ("integer", "number")
_DECODER = JSONDecoder()

Span = tuple[int, int]
"""Where something stands in a text, as in slices."""


class _Found(NamedTuple):
    """Arguments, and the text with spaces where they stood."""

    arguments: dict[str, JSON]
    rest: str


def gleaned(form: Form, text: str, spans: Iterable[Span] = ()) -> dict[str, JSON]:
    """Return the arguments for a tool that stand in a text.

    These are read, in this order: a JSON object of arguments; ``key=value`` and ``key: value``;
    allowed values that stand there as words; what follows the words for the tool and a colon, if
    it takes one text; quoted texts and numbers, if there are just as many as required parameters
    of that type, or as parameters of that type.

    Args:
        form: of the tool.
        text: what somebody says.
        spans: the places of the words that stand for the tool.
    """
    whole = _object(form, text)
    named = _paired(form, whole.rest)
    found = {**whole.arguments, **named.arguments}
    asked = _required(form, _open(form, found, ("string",)))
    following = _after_colon(asked, named.rest, spans)
    found |= following.arguments
    rest = _blanked(following.rest, spans)
    quoted = _QUOTED.findall(rest)
    rest = _QUOTED.sub(" ", rest)
    found |= _chosen(form, found, rest)
    found |= _in_order(form, found, ("string",), [_inner(each) for each in quoted])
    return found | _in_order(form, found, _NUMERIC, _numbers(rest))


def pairs(form: Form, text: str) -> dict[str, JSON] | None:
    """Return the arguments if a text is nothing but arguments with their names; else None."""
    whole = _object(form, text)
    named = _paired(form, whole.rest)
    found = {**whole.arguments, **named.arguments}
    is_bare = set(named.rest.replace("and", "").strip()) <= set(" ,;\n\t")
    return found if found and is_bare else None


def bare(text: str) -> str:
    """Return a text without what seems to be arguments, to look for tools by what is left."""
    for pattern in (_QUOTED, _PAIR, _NUMBER):
        text = pattern.sub(" ", text)
    return text


def _blanked(text: str, spans: Iterable[Span]) -> str:
    for start, end in spans:
        text = f"{text[:start]}{' ' * (end - start)}{text[end:]}"
    return text


def _object(form: Form, text: str) -> _Found:
    """Take the first JSON object with the name of a parameter in it."""
    for match in re.finditer(r"\{", text):
        try:
            value, end = _DECODER.raw_decode(text, match.start())
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict) and not form.properties.keys().isdisjoint(value):
            return _Found(value, _blanked(text, [(match.start(), end)]))
    return _Found({}, text)


def _paired(form: Form, text: str) -> _Found:
    """Take ``key=value`` and ``key: value``, for the names of parameters alone."""
    keys = sorted(map(re.escape, form.properties), key=len, reverse=True)
    head = re.compile(rf"(?<![\w\"'])({'|'.join(keys)})(\s*=\s*|\s*:\s+|:(?=[\"'\d]))")
    found: dict[str, JSON] = {}
    heads = _outside(head.finditer(text), text) if keys else []
    ends = [each.start() for each in heads[1:]] + [len(text)] * bool(heads)
    spans: list[Span] = []
    for each, limit in zip(heads, ends, strict=True):
        written = _value(form, each, text[each.end() : limit])
        if written and each[1] not in found:
            found[each[1]] = form.read(each[1], written)
            spans.append((each.start(), each.end() + len(written)))
    return _Found(found, _blanked(text, spans))


def _outside(heads: Iterable[re.Match[str]], text: str) -> list[re.Match[str]]:
    """Return those that do not stand within quotation marks."""
    quoted = [each.span() for each in _QUOTED.finditer(text)]
    return [each for each in heads if not any(start < each.start() < end for start, end in quoted)]


def _value(form: Form, head: re.Match[str], text: str) -> str:
    """Return how a value is written: in quotes, as JSON, or a word; after a colon, a whole text."""
    quoted = _QUOTED.match(text)
    if quoted is not None:
        return quoted.group()
    if text[:1] in ("[", "{"):
        try:
            return text[: _DECODER.raw_decode(text)[1]]
        except (ValueError, RecursionError):
            return text.strip()
    if ":" in head[2] and form.schema(head[1]).get("type") in ("string", "array"):
        return text.rstrip(" ,;\n")
    return text.split(maxsplit=1)[0].rstrip(",;") if text.strip() else ""


def _open(form: Form, found: Collection[str], types: Collection[str]) -> list[str]:
    """Return the parameters of some types that are not known yet; none with choices."""
    return [
        name
        for name in form.properties
        if name not in found
        and form.schema(name).get("type") in types
        and "enum" not in form.schema(name)
    ]


def _required(form: Form, names: Sequence[str]) -> list[str]:
    return [name for name in names if name in form.required]


def _after_colon(names: Sequence[str], text: str, spans: Iterable[Span]) -> _Found:
    """Take all that follows the words for the tool and a colon."""
    end = max((end for _, end in spans), default=len(text))
    after = text[end:].lstrip()
    said = after[1:].strip()
    if len(names) != 1 or after[:1] != ":" or not said:
        return _Found({}, text)
    return _Found({names[0]: unquoted(said)}, text[:end])


def _chosen(form: Form, found: dict[str, JSON], text: str) -> dict[str, JSON]:
    """Return the allowed values that stand in a text, where no other parameter allows them."""
    said = f" {' '.join(words(text))} "
    stand = {name: _standing(form, name, said) for name in form.properties if name not in found}
    every = [each for options in stand.values() for each in options]
    return {
        name: options[0]
        for name, options in stand.items()
        if len(options) == 1 and every.count(options[0]) == 1
    }


def _standing(form: Form, name: str, said: str) -> list[str]:
    options = form.schema(name).get("enum", ())
    return [
        each
        for each in options
        if isinstance(each, str) and words(each) and f" {' '.join(words(each))} " in said
    ]


def _in_order(
    form: Form, found: Collection[str], types: Collection[str], values: Sequence[JSON]
) -> dict[str, JSON]:
    every = _open(form, found, types)
    for names in (_required(form, every), every):
        if len(names) == len(values) and all(map(form.is_fit, names, values)):
            return dict(zip(names, values, strict=True))
    return {}


def _numbers(text: str) -> list[JSON]:
    """Return the numbers of a text; none if one is odd, or a comma may part digits or numbers."""
    found = [] if _GROUPED.search(text) else [parsed(each) for each in _NUMBER.findall(text)]
    return [] if any(isinstance(each, Unparsed) for each in found) else found


def _inner(quoted: str) -> str:
    return quoted[1:-1] if quoted[0] in "“«" else unquoted(quoted)
