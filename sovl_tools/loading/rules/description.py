"""ST2xx, third part: what a model reads of a manifest. Heuristic: warnings, which may be wrong."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from sovl_tools.model.diagnostic import Finding, ManifestPlace, RuleTable, rule
from sovl_tools.model.document import JSON, Path, dotted

DESCRIPTION_PLACEHOLDER = "Say what {} does and when to use it."
"""What ``sovl-tools new`` writes where a tool has no description yet."""
PROPERTY_PLACEHOLDER = "Say what {} means, its unit and its format."
"""What it writes where a property has none."""
MAX_TEXT = 4_000
"""The characters of one description, or of instructions, that a model reads with every request."""

_PROSE = frozenset({"title", "description", "instructions", "$comment"})
_NESTING = frozenset({dict, list})


class Text(NamedTuple):
    """A text in a manifest: a value, or a key of an object."""

    path: Path
    text: str
    is_key: bool = False

    @property
    def place(self) -> ManifestPlace:
        """Where it is."""
        return ManifestPlace(self.path, "key" if self.is_key else "value")


class DescriptionCase(NamedTuple):
    """All texts of a manifest, whose keys have values of the right kinds.

    Attributes:
        document: the manifest.
        text: its own text, as JSON.
    """

    document: Mapping[str, JSON]
    text: str

    @property
    def prose(self) -> list[Text]:
        """The texts that are sentences for a model."""
        found: list[Text] = []
        _find_prose(self.document, (), found)
        return found

    @property
    def texts(self) -> Iterator[Text]:
        """The texts in the order in which they stand; keys of one's own, ``x-…``, are left out."""
        shown = {key: each for key, each in self.document.items() if not key.startswith("x-")}
        return _texts(shown, ())

    @property
    def occasions(self) -> tuple[str, ...]:
        """What is remarkable about it, in the words in which rules declare their occasions."""
        text = self.text
        # whatever else may be written as an escape, every letter is there itself
        is_literal = "\\" not in text or "\\u" not in text  # one letter is found far sooner
        is_seen = (is_literal and text.isascii()) or _MAY_HIDE.search(text) is None
        return (
            *(("scaffold",) if "Say what " in text else ()),
            *(() if is_seen else ("unseen",)),
            *(() if is_literal and not _may_instruct(text) else ("instructing",)),
            *(("long",) if len(text) > MAX_TEXT and _may_be_long(text) else ()),
            *(("annotations",) if self.document.get("annotations") else ()),
        )


def _may_be_long(text: str) -> bool:
    """Tell whether a string in JSON text may be too long; written out, none is shorter."""
    text, half = text.replace('\\"', "''") if "\\" in text else text, MAX_TEXT // 2
    # whatever is too long spans one of these pieces
    return any(text.find('"', at, at + half) < 0 for at in range(0, len(text) - half + 1, half))


def _find_prose(value: JSON, path: Path, found: list[Text]) -> None:
    if type(value) is dict:
        for key, each in value.items():
            kind = type(each)
            if kind is str:
                if key in _PROSE:
                    found.append(Text((*path, key), each))
            elif kind in _NESTING and each:
                _find_prose(each, (*path, key), found)
        return
    for index, each in enumerate(value):
        if type(each) in _NESTING:
            _find_prose(each, (*path, index), found)


def _texts(value: JSON, path: Path) -> Iterator[Text]:
    if isinstance(value, str):
        yield Text(path, value)
    elif isinstance(value, dict):
        for key, each in value.items():
            yield Text((*path, key), key, is_key=True)
            yield from _texts(each, (*path, key))
    elif isinstance(value, list):
        for index, each in enumerate(value):
            yield from _texts(each, (*path, index))


@rule("ST221", "warning", at=["scaffold"])
def placeholder_text(case: DescriptionCase) -> Iterator[Finding]:
    """A description is still the one that ``sovl-tools new`` wrote.

    Models choose tools, and fill in arguments, by their descriptions; this one asks the author for
    it. Write what the tool does and when to use it, or what the property means.
    """
    own = DESCRIPTION_PLACEHOLDER.format(case.document.get("name"))
    for each in case.prose:
        *_, owner, key = ("", *each.path)
        is_own = len(each.path) == 1 and each.text == own
        if key == "description" and (is_own or each.text == PROPERTY_PLACEHOLDER.format(owner)):
            words = "the description" if is_own else f"the description of {owner!r}"
            message = f"{words} is still what sovl-tools new wrote"
            yield Finding(each.place, message, "write what it asks for")


@rule("ST217", "warning", at=["unseen"])
def invisible_characters(case: DescriptionCase) -> Iterator[Finding]:
    """A text has characters that people don't see and models read.

    Characters without width, those that change the direction of writing, and tag characters hide
    text from whoever reviews a manifest, or show it in another order. A heuristic: joiners within
    emoji and between letters of scripts that need them are left alone. Remove them.
    """
    for each in case.texts:
        found = [] if each.text.isascii() else [*_invisible(each.text)]
        if found:
            names = ", ".join(f"U+{ord(char):04X}" for char in dict.fromkeys(found[:5]))
            message = f"{dotted(each.path)!r:.80} has characters that nobody sees: {names}"
            yield Finding(each.place._replace(part=found[0]), message, "remove them")


_DIRECTIONS = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_NO_WIDTH = frozenset(
    "\u00ad\u034f\u115f\u1160\u180e\u200b\u2060\u2061\u2062\u2063\u2064\u3164\ufeff"
)
_JOINERS = frozenset("\u200c\u200d")
_UNSEEN = sorted(_DIRECTIONS | _NO_WIDTH | _JOINERS)
# as they are, or as JSON escapes them; a tag is written as two halves
_MAY_HIDE = re.compile(
    f"[{''.join(_UNSEEN)}\U000e0000-\U000e007f]"
    rf"|\\u(?i:{'|'.join(f'{ord(each):04x}' for each in _UNSEEN)}|db40)"
)


def _invisible(text: str) -> Iterator[str]:
    for index, char in enumerate(text):
        # flags of regions are written with tags behind a black flag
        is_tag = "\U000e0000" <= char <= "\U000e007f" and "\U0001f3f4" not in text[:index][-7:]
        # a joiner between Latin letters joins nothing
        around = text[max(0, index - 1) : index] + text[index + 1 : index + 2]
        is_loose = char in _JOINERS and all(
            each.isascii() or unicodedata.category(each) == "Cf" for each in around
        )
        if is_tag or is_loose or char in _NO_WIDTH or char in _DIRECTIONS:
            yield char


@rule("ST218", "warning", at=["instructing"])
def instructing_text(case: DescriptionCase) -> Iterator[Finding]:
    """A description tells the model to ignore, hide or override something.

    Descriptions are part of the prompt. One that asks to ignore instructions, to keep something
    from the user, or to put itself before other tools is how a tool from elsewhere takes over a
    conversation. A heuristic, by a few English phrases: it finds neither all of them nor only such.
    Say what the tool does; if you do mean it, leave the finding out with ``x-ignore``.
    """
    for each in case.prose:
        found = _INSTRUCTING.search(each.text)
        if found:
            words = " ".join(found[0].split())
            message = f"{dotted(each.path)!r} tells the model what to hide or ignore: {words!r:.80}"
            yield Finding(each.place._replace(part=found[0]), message, "say what the tool does")


# looked for in every text, so it first says with which letters it can begin
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


def _may_instruct(text: str) -> bool:
    """Tell whether a manifest may have what is looked for; most lack some of its words."""
    if not text.isascii():
        text = text.translate(_LIKE_ASCII)
    text = text.lower()
    # of every manifest, so without generators: most alternatives lack their first words already
    for groups in _INSTRUCTING_WORDS:
        for words in groups:
            for word in words:
                if word in text:
                    break
            else:
                break
        else:
            return True
    return False


_LIKE_ASCII = str.maketrans(
    {
        "\u0130": "i",
        "\u0131": "i",
        "\u017f": "s",
        "\u212a": "k",
        "\u2019": "'",
        **{space: " " for space in map(chr, range(0x80, 0x3001)) if space.isspace()},
    }
)
"""What the pattern takes for a letter of ASCII, for its apostrophe or for a space."""


_PEOPLE = ("user", "human", "anyone", "people")
_INSTRUCTING_WORDS = (
    (
        ("ignore", "disregard", "forget", "override", "bypass"),
        ("instruction", "rule", "prompt", "guideline", "polic", "restriction"),
    ),
    (
        _PEOPLE,
        ("not", "don't", "never", "without"),
        ("tell", "mention", "reveal", "inform", "disclose", "show", "notify"),
    ),
    (("from",), _PEOPLE, ("hide", "conceal", "keep")),
    (("other",), ("instead", "before"), ("tool",)),
    (("<",), ("system", "important", "instruction", "secret")),
)
"""For each alternative of the pattern: whatever it finds has a word of each of these tuples.

The first ones are those of which the fewest have to be looked for.
"""


@rule("ST219", "warning", at=["annotations"])
def contradicted_annotation(case: DescriptionCase) -> Iterator[Finding]:
    """A tool that calls itself ``read_only`` has the name of one that changes things.

    Clients call what is ``read_only`` without asking anybody. A heuristic, by the first word of
    the name, such as ``delete`` or ``write``; ``destructive`` beside it is a contradiction in any
    case. Correct the annotation, or the name.
    """
    hints = case.document.get("annotations", {})
    if hints.get("read_only") is not True:
        return
    place = ManifestPlace(("annotations", "read_only"))
    verb = str(case.document.get("name", "")).partition("_")[0].casefold()
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


@rule("ST220", "warning", at=["long"])
def long_description(case: DescriptionCase) -> Iterator[Finding]:
    """A description is longer than 4,000 characters.

    It is sent with every request, costs tokens each time, and what matters drowns in it; providers
    cut or refuse it. Say what the tool does and when to use it; put the rest into a document.
    """
    for each in case.prose:
        if len(each.text) > MAX_TEXT:
            message = f"{dotted(each.path)!r} has {len(each.text):,} characters"
            yield Finding(each.place, message, f"say it in at most {MAX_TEXT:,}")


RULES = RuleTable(
    placeholder_text,
    invisible_characters,
    instructing_text,
    contradicted_annotation,
    long_description,
)
