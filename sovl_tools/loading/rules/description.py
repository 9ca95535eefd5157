"""ST2xx, third part: the strings of a manifest that models read. Heuristics, so only warnings."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from sovl_tools.formats.base import estimate
from sovl_tools.loading.rules.server import ListedTool, large_definition
from sovl_tools.model.diagnostic import Finding, ManifestPlace, Verdict, ask, rule
from sovl_tools.model.document import JSON, Path, dotted

DESCRIPTION_PLACEHOLDER = "Say what {} does and when to use it."
"""The description that ``sovl-tools new`` writes for a tool without one."""
PROPERTY_PLACEHOLDER = "Say what {} means, its unit and its format."
"""The description that it writes for a property without one."""


def is_placeholder(text: str, name: str) -> bool:
    """Return whether a string is what ``sovl-tools new`` writes for a tool or a property."""
    return text in {DESCRIPTION_PLACEHOLDER.format(name), PROPERTY_PLACEHOLDER.format(name)}


MAX_TEXT = 4_000
"""The maximum length of a description, because a model reads it with every request."""

_PROSE = frozenset({"title", "description", "instructions", "$comment"})


class Text(NamedTuple):
    """A string in a manifest: a value, or a key of an object."""

    path: Path
    text: str
    is_key: bool = False

    @property
    def place(self) -> ManifestPlace:
        """Its place in the manifest."""
        return ManifestPlace(self.path, "key" if self.is_key else "value")

    @property
    def is_prose(self) -> bool:
        """Whether it consists of sentences for a model."""
        return not self.is_key and self.path[-1] in _PROSE


def verdicts(document: Mapping[str, JSON]) -> list[Verdict]:
    """Return the verdicts about the strings of a manifest, without the author's own keys."""
    own = {key: each for key, each in document.items() if not key.startswith("x-")}
    sent = {key: own[key] for key in _SENT if key in own}
    case = ListedTool(str(own.get("name")), (), estimate(sent))
    found = text_verdicts(own) + ask((contradicted_annotation,), document)
    return found + ask((large_definition,), case)


_SENT = ("name", "title", "description", "parameters", "output_schema")
"""The keys that models get with every request."""


def text_verdicts(document: JSON) -> list[Verdict]:
    """Return the verdicts about the strings of any definition that models read."""
    every = [*_texts(document)]
    found = ask(PROSE_RULES, *[each for each in every if each.is_prose])
    return found + ask(
        (invisible_characters,), *[each for each in every if not each.text.isascii()]
    )


def _texts(document: JSON) -> Iterator[Text]:
    """Yield the strings that a rule checks: prose, and text that isn't ASCII."""
    pending: list[tuple[Path, JSON]] = [((), document)]
    for path, container in pending:  # which grows meanwhile
        items: Iterable[tuple[Any, JSON]] = enumerate(container)
        if isinstance(container, dict):
            yield from (
                Text((*path, key), key, is_key=True) for key in container if not key.isascii()
            )
            items = container.items()
        for key, each in items:
            if isinstance(each, dict | list):
                pending.append(((*path, key), each))
            elif isinstance(each, str) and (key in _PROSE or not each.isascii()):
                yield Text((*path, key), each)


@rule("ST221", "warning")
def placeholder_text(case: Text) -> Iterator[Finding]:
    """A description is still the placeholder that ``sovl-tools new`` wrote.

    Models choose tools, and fill in arguments, by their descriptions. Describe the tool and
    when to use it, or what the property means.
    """
    if case.path[-1] != "description":
        return
    owner = case.path[-2] if len(case.path) > 1 else None
    name = case.text.removeprefix(_BEFORE_NAME).removesuffix(_AFTER_NAME)
    is_own = owner is None and case.text == DESCRIPTION_PLACEHOLDER.format(name)
    if is_own or case.text == PROPERTY_PLACEHOLDER.format(owner):
        words = "the description" if is_own else f"the description of {owner!r}"
        message = f"{words} is still a placeholder"
        yield Finding(case.place, message, "write what it asks for")


_BEFORE_NAME, _AFTER_NAME = DESCRIPTION_PLACEHOLDER.split("{}")


@rule("ST217", "warning")
def invisible_characters(case: Text) -> Iterator[Finding]:
    """A string has characters that models read and people don't see.

    Characters without width, characters that change the direction of writing, and tag characters
    hide text from a reviewer, or show it in another order. This is a heuristic: joiners within
    emoji and between letters of scripts that need them are fine. Remove the characters.
    """
    found = [*_invisible(case.text)]
    if found:
        names = ", ".join(f"U+{ord(char):04X}" for char in dict.fromkeys(found[:5]))
        message = f"{dotted(case.path)!r:.80} has characters that no one sees: {names}"
        yield Finding(case.place, message, "remove them")


_DIRECTIONS = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_NO_WIDTH = frozenset(
    "\u00ad\u034f\u115f\u1160\u180e\u200b\u2060\u2061\u2062\u2063\u2064\u3164\ufeff"
)
_JOINERS = frozenset("\u200c\u200d")


def _invisible(text: str) -> Iterator[str]:
    for index, char in enumerate(text):
        # flags of regions are written with tags behind a black flag
        is_tag = "\U000e0000" <= char <= "\U000e007f" and "\U0001f3f4" not in text[:index][-7:]
        # a joiner between Latin letters has no effect
        around = text[max(0, index - 1) : index] + text[index + 1 : index + 2]
        is_loose = char in _JOINERS and all(
            each.isascii() or unicodedata.category(each) == "Cf" for each in around
        )
        if is_tag or is_loose or char in _NO_WIDTH or char in _DIRECTIONS:
            yield char


@rule("ST218", "warning")
def instructing_text(case: Text) -> Iterator[Finding]:
    """A description tells the model to ignore, hide or override something.

    Descriptions are part of the prompt. A foreign tool can take over a conversation by a
    description that tells it to ignore instructions, to hide something from the user, or to prefer
    it to other tools. This is a heuristic for a few English phrases, so it misses some, and can be
    wrong. Describe the tool. If the sentence is intended, suppress the finding with ``x-ignore``.
    """
    found = _INSTRUCTING.search(case.text)
    if found:
        words = " ".join(found[0].split())
        message = f"{dotted(case.path)!r} tells the model what to hide or ignore: {words!r:.80}"
        yield Finding(case.place, message, "describe the tool")


# searched in every text, so it begins with the possible first letters
_INSTRUCTING = re.compile(
    r"""
    (?= [bcdfhiknow<] ) (?:
      \b (?:
        (?:ignore|disregard|forget|override|bypass)\b [^.!?]{0,40}
        \b(?:previous|prior|above|earlier|preceding|system|safety|your|these|all|any)\b [^.!?]{0,30}
        \b(?:instructions?|rules?|prompts?|guidelines?|polic(?:y|ies)|restrictions?)\b
      | (?:do\s+not|don['\u2019]t|never|without)\s+ (?:ever\s+)?
        (?:tell|mention|reveal|inform|disclose|show|notify)\w* \b [^.!?]{0,40}
        \b(?:users?|humans?|anyone|people)\b
      | (?:hide|conceal|keep)\b [^.!?]{0,40} \bfrom\s+(?:the\s+)?(?:users?|humans?|people)\b
      | instead\s+of\s+(?:any|all|every|the)\s+other\s+tools?\b
      | before\s+(?:using|calling|any|all)\b [^.!?]{0,20} \bother\s+tools?\b
      )
    | <\s*/?\s*(?:system|important|instructions?|secret)\s*>
    )
    """,
    re.IGNORECASE | re.VERBOSE,
)


@rule("ST219", "warning")
def contradicted_annotation(document: Mapping[str, JSON]) -> Iterator[Finding]:
    """A ``read_only`` tool has a name that promises a change, or is ``destructive``, too.

    Clients call ``read_only`` tools without a confirmation. This is a heuristic for the first word
    of the name, such as ``delete`` or ``write``. Correct the annotation, or the name.
    """
    hints = document.get("annotations", {})
    if hints.get("read_only") is not True:
        return
    place = ManifestPlace(("annotations", "read_only"))
    verb = str(document.get("name", "")).partition("_")[0].casefold()
    if hints.get("destructive") is True:
        message = "the tool is both 'read_only' and 'destructive'"
        yield Finding(place, message, "one of the two is false")
    elif verb in _CHANGING:
        message = f"the tool is 'read_only', but its name begins with {verb!r}"
        yield Finding(place, message, "correct the annotation, or the name")


_CHANGING = frozenset(
    {
        "add", "append", "clear", "create", "delete", "destroy", "drop", "erase", "insert", "kill",
        "modify", "move", "overwrite", "purge", "remove", "rename", "reset", "save", "send", "set",
        "truncate", "update", "upload", "wipe", "write",
    }
)  # fmt: skip


@rule("ST220", "warning")
def long_description(case: Text) -> Iterator[Finding]:
    """A description is longer than 4,000 characters.

    It is sent with every request and costs tokens each time, models miss what matters, and
    providers cut or reject it. Describe the tool and when to use it; put the rest into a
    document.
    """
    if len(case.text) > MAX_TEXT:
        message = f"{dotted(case.path)!r} has {len(case.text):,} characters"
        yield Finding(case.place, message, f"say it in at most {MAX_TEXT:,}")


@rule("ST222", "warning")
def secret_text(case: Text) -> Iterator[Finding]:
    """A description contains something that looks like a key or a token.

    Every provider, model and client that gets the definition reads it, and so does everyone who
    reads the repository. This is a heuristic for the forms of well-known services, such as
    ``ghp_…`` and ``AKIA…``. Revoke the secret, and remove it.
    """
    found = _SECRET.search(case.text)
    if found:
        words = f"{dotted(case.path)!r:.80} contains what looks like a secret: {found[0][:4]}…"
        advice = "revoke it, and write a made-up value"
        yield Finding(case.place, words, advice)


_SECRET = re.compile(
    r"""\b(?: sk-[A-Za-z0-9_-]{20,} | gh[opsur]_[A-Za-z0-9]{20,} | github_pat_\w{20,}
      | glpat-[\w-]{16,} | xox[abprs]-[\w-]{10,} | AKIA[A-Z0-9]{16} | AIza[\w-]{30,}
      | eyJ[\w-]{10,}\.eyJ[\w-]{10,} )
      | -----BEGIN\ [A-Z\ ]*PRIVATE\ KEY-----""",
    re.VERBOSE,
)

PROSE_RULES = (placeholder_text, instructing_text, long_description, secret_text)
RULES = (*PROSE_RULES, invisible_characters, contradicted_annotation)
