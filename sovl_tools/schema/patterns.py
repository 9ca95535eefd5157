r"""Regular expressions of ECMA-262 (without the flag ``u``), as the engines understand them.

The engines reject a few forms that ECMA-262 accepts in its Annex B, such as ``[\w-.]``, ``a{`` and
``\e``. A pattern that an engine rejects is read here and written in plainer forms.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from sovl_tools.model.document import JSON
from sovl_tools.schema.subschemas import with_subschemas


class PatternError(ValueError):
    """A pattern that ECMA-262 rejects.

    Attributes:
        index: where it is wrong, from 0.
        reason: a clause.
        advice: the correct form, if there is one.
    """

    def __init__(self, index: int, reason: str, advice: str | None = None) -> None:
        super().__init__(f"{reason} (character {index + 1})")
        self.index, self.reason, self.advice = index, reason, advice


def translated(pattern: str) -> str:
    """Return a pattern in forms that every engine understands.

    Raises:
        PatternError: ECMA-262 rejects it.
    """
    return _Reader(pattern).read()


def with_translated(schema: JSON, names: dict[str, str]) -> JSON:
    """Return a schema with all its patterns translated; others are unchanged.

    ``names`` receives the original of each changed pattern.
    """
    if not isinstance(schema, dict):
        return schema

    def changed(pattern: str) -> str:
        try:
            found = translated(pattern)
        except PatternError:
            return pattern
        if found != pattern:
            names[found] = pattern
        return found

    copy = with_subschemas(schema, lambda each: with_translated(each, names))
    if isinstance(copy.get("pattern"), str):
        copy["pattern"] = changed(copy["pattern"])
    if isinstance(copy.get("patternProperties"), dict):
        copy["patternProperties"] = {
            changed(key): each for key, each in copy["patternProperties"].items()
        }
    return copy


_COUNT = re.compile(r"\{([0-9]+)(?:(,)([0-9]*))?\}")
_GROUP = re.compile(r"\((?:\?(?::|=|!|<=|<!|P?<(?P<name>[A-Za-z_$][\w$]*)>|[aimsx-]+:))?")
_AS_IT_IS = re.compile(r"\(\?(?:P=\w+|[aimsx]+)\)")
_CAPTURING = re.compile(
    r"\\.|\[(?:\\.|[^\]\\])*\]|(\((?!\?)|\(\?P?<([A-Za-z_$][\w$]*)>)", re.DOTALL
)
"""An escape, a class, or in its first group the beginning of a group that captures."""
_PROPERTY = re.compile(r"\\[pP](?:\{[\w=]+\}|[A-Z])")
_CLASSES = frozenset("dDwWsS")
_HIGH, _LOW = range(0xD800, 0xDC00), range(0xDC00, 0xE000)


class _Item(NamedTuple):
    r"""A character, or a class such as ``\d``, which has no code."""

    text: str
    code: int | None = None


class _Group(NamedTuple):
    """A group that is open.

    Attributes:
        start: where it begins in the pattern.
        place: its beginning in the translation.
        number: of a group that captures, from 1; 0 for others.
        is_look: whether it looks ahead or back.
    """

    start: int
    place: int
    number: int
    is_look: bool


class _Reader:
    """Reads a pattern once, from its beginning to its end."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self._at = 0
        self._made: list[str] = []
        self._open: list[_Group] = []
        self._closed: set[int] = set()
        self._begun = 0
        # the beginning of the last atom in the translation; None if it can't be repeated
        self._atom: int | None = None
        self._is_look = False
        # the names of the groups that capture, "" for those without one
        self._captured = [name for begin, name in _CAPTURING.findall(pattern) if begin]

    def read(self) -> str:
        """Return the translated pattern.

        Raises:
            PatternError: ECMA-262 rejects it.
        """
        while self._at < len(self.pattern):
            self._step(self.pattern[self._at])
        if self._open:
            raise PatternError(self._open[-1].start, "the group isn't closed")
        return "".join(self._made)

    def _step(self, char: str) -> None:
        if char == "(":
            self._begin_group()
        elif char == ")":
            self._end_group()
        elif char in "*+?" or (char == "{" and _COUNT.match(self.pattern, self._at)):
            self._repeat()
        elif char == "[":
            self._add(self._class())
        elif char == "\\":
            made = self._escape().text
            self._add(made)
            if made in {r"\b", r"\B"}:
                self._atom = None
        else:
            self._at += 1
            self._add(f"\\{char}" if char in "{}]" else char)
            if char in "|^$":
                self._atom = None

    def _add(self, text: str) -> None:
        self._atom, self._is_look = len(self._made), False
        self._made.append(text)

    def _begin_group(self) -> None:
        start = self._at
        if as_it_is := _AS_IT_IS.match(self.pattern, start):
            self._at = as_it_is.end()
            self._made.append(as_it_is[0])
            return
        found = _GROUP.match(self.pattern, start)
        text = found[0] if found is not None else "("
        if text == "(" and self.pattern[start + 1 : start + 2] == "?":
            self._reject_group(start)
        name = found["name"] if found is not None else None
        is_captured = text == "(" or name is not None
        self._begun += is_captured
        number = self._begun if is_captured else 0
        is_look = text[:3] in {"(?=", "(?!", "(?<"} and name is None
        self._open.append(_Group(start, len(self._made), number, is_look))
        self._made.append(f"(?P<{name.replace('$', '_')}>" if name else text)
        self._at, self._atom = start + len(text), None

    def _reject_group(self, start: int) -> None:
        kind = self.pattern[start : start + 3]
        advice = None
        if kind == "(?>":
            advice = f"write {self.pattern.replace('(?>', '(?:')}"
        elif kind == "(?#":
            advice = f"write {re.sub(r'[(][?]#[^)]*[)]', '', self.pattern)}"
        raise PatternError(start, f"ECMA-262 has no group {kind!r}", advice)

    def _end_group(self) -> None:
        if not self._open:
            raise PatternError(self._at, "this ')' closes no group")
        group = self._open.pop()
        self._closed.add(group.number)
        self._made.append(")")
        self._at += 1
        self._atom, self._is_look = group.place, group.is_look

    def _repeat(self) -> None:
        found = _COUNT.match(self.pattern, self._at)
        text = self.pattern[self._at] if found is None else found[0]
        if self._atom is None:
            raise PatternError(self._at, "there's no atom to repeat", self._glob())
        if found is not None and found[3] and int(found[3]) < int(found[1]):
            raise PatternError(self._at, f"the numbers of {text} are out of order")
        self._at += len(text)
        if self.pattern[self._at : self._at + 1] == "?":
            self._at += 1
            text += "?"
        if not self._is_look:
            self._made.append(text)
        elif text[0] in "*?" or (found is not None and int(found[1]) == 0):
            del self._made[self._atom :]  # an engine can't repeat an atom without width
            self._made.append("(?:)")
        self._atom = None

    def _glob(self) -> str | None:
        """Return advice if the pattern is a pattern of file names, such as ``*.txt``."""
        if not re.fullmatch(r"[*?][\w.*?-]*", self.pattern):
            return None
        meant = re.escape(self.pattern).replace(r"\*", ".*").replace(r"\?", ".")
        return f"write ^{meant}$"

    def _class(self) -> str:
        start = self._at
        self._at += 1
        is_negated = self._takes("^")
        if self._takes("]"):
            return r"[\s\S]" if is_negated else r"[^\s\S]"
        items: list[str] = []
        while not self._takes("]"):
            first = self._member(start)
            is_range = self.pattern[self._at : self._at + 1] == "-"
            if is_range and self.pattern[self._at + 1 : self._at + 2] not in {"]", ""}:
                self._at += 1
                last = self._member(start)
                items.append(self._range(first, last))
            else:
                items.append(first.text)
        return f"[{'^' if is_negated else ''}{''.join(items)}]"

    def _range(self, first: _Item, last: _Item) -> str:
        if first.code is None or last.code is None:  # then the "-" is a character
            return rf"{first.text}\-{last.text}"
        if first.code > last.code:
            words = f"the range {first.text}-{last.text} is out of order"
            raise PatternError(self._at - 1, words)
        return f"{first.text}-{last.text}"

    def _takes(self, char: str) -> bool:
        is_next = self.pattern[self._at : self._at + 1] == char
        self._at += is_next
        return is_next

    def _member(self, start: int) -> _Item:
        if self._at >= len(self.pattern):
            raise PatternError(start, "the class isn't closed")
        char = self.pattern[self._at]
        if char == "\\":
            return self._escape(in_class=True)
        self._at += 1
        return _Item(f"\\{char}" if char in r"[]^-&~\|" else char, ord(char))

    def _escape(self, *, in_class: bool = False) -> _Item:
        start = self._at
        char = self.pattern[start + 1 : start + 2]
        if not char:
            raise PatternError(start, "a backslash ends the pattern")
        self._at += 2
        if char in _CLASSES or (char in "bB" and not in_class):
            return _Item(f"\\{char}")
        if kind := _PROPERTY.match(self.pattern, start):  # surely meant, and one engine supports it
            self._at = kind.end()
            return _Item(kind[0])
        if char.isdigit() and char.isascii():
            return self._number(start, in_class=in_class)
        found = _CONTROLS.get(char)
        if char in "cxuk":
            found = self._long(char, in_class=in_class)
        if found is None and char == "c":
            self._at -= 1
            found = _Item(r"\\", ord("\\"))
        return found or _Item(re.escape(char), ord(char))

    def _long(self, char: str, *, in_class: bool) -> _Item | None:
        rest = self.pattern[self._at :]
        if char == "k":
            found = re.match(r"<([A-Za-z_$][\w$]*)>", rest)
            if found is None or found[1] not in self._captured or in_class:
                return None
            self._at += found.end()
            return self._reference(self._captured.index(found[1]) + 1)
        forms = {"c": r"[A-Za-z]", "x": r"[0-9A-Fa-f]{2}", "u": r"[0-9A-Fa-f]{4}"}
        found = re.match(forms[char], rest)
        if found is None:
            return None
        self._at += found.end()
        if char == "c":
            return _character(ord(found[0]) % 32)
        code = int(found[0], 16)
        low = re.match(r"\\u([0-9A-Fa-f]{4})", self.pattern[self._at :])
        if code in _HIGH and low is not None and int(low[1], 16) in _LOW:
            self._at += low.end()
            code = 0x10000 + (code - 0xD800) * 0x400 + int(low[1], 16) - 0xDC00
        if code in _HIGH or code in _LOW:  # no string has half a pair
            return _Item(r"\uffff", 0xFFFF) if in_class else _Item("(?!)")
        return _character(code)

    def _reference(self, number: int) -> _Item:
        """Return a reference to a group, which is empty before the group's end."""
        return _Item(f"(?:\\{number})" if number in self._closed else "(?:)")

    def _number(self, start: int, *, in_class: bool) -> _Item:
        found = re.compile(r"[0-9]+").match(self.pattern, start + 1)
        digits = found[0] if found is not None else "0"
        if not in_class and digits[0] != "0" and int(digits) <= len(self._captured):
            self._at = start + 1 + len(digits)
            return self._reference(int(digits))
        octal = re.match(r"[0-3][0-7]{0,2}|[4-7][0-7]?", digits)
        if octal is None:  # \8 and \9
            return _Item(digits[0], ord(digits[0]))
        self._at = start + 1 + octal.end()
        return _character(int(octal[0], 8))


def _character(code: int) -> _Item:
    char = chr(code)
    return _Item(re.escape(char) if char.isprintable() else f"\\x{code:02x}", code)


_SLASHES = re.compile(r"/(?P<inner>.+)/(?P<flags>[a-z]*)", re.DOTALL)
_CONTROLS = {char: _character(code) for char, code in zip("btnvfr", range(8, 14), strict=True)}
_ODD: tuple[tuple[str, str, str], ...] = (
    (r"\\[Zz]", "is a letter in ECMA-262", "write $ for the end of the text"),
    (r"\\A", "is a letter in ECMA-262", "write ^ for the beginning of the text"),
    (r"\\h", "is a letter in ECMA-262", r"write [ \\t] for blanks"),
    (r"\\[QE]", "is a letter in ECMA-262", "write a backslash before each special character"),
    (r"\{,(?P<most>[0-9]+)\}", "is plain text in ECMA-262", r"write {0,\g<most>}"),
    (r"\[:alpha:\]", "isn't a class in ECMA-262", "write A-Za-z"),
    (r"\[:digit:\]", "isn't a class in ECMA-262", "write 0-9"),
    (r"\[:alnum:\]", "isn't a class in ECMA-262", "write A-Za-z0-9"),
    (r"\[:space:\]", "isn't a class in ECMA-262", r"write \\s"),
)
"""What people write after the syntax of other languages, the meaning, and the right form."""


def oddity(pattern: str) -> tuple[str, str] | None:
    """Return the meaning of a valid pattern whose author surely means another thing, and advice.

    Return None for a pattern without such a form.
    """
    slashes = _SLASHES.fullmatch(pattern)
    if slashes and (slashes["flags"] or re.search(r"[][(){}^$|*+?\\]", slashes["inner"])):
        also = ", with both cases of each letter, as in [A-Za-z]" if "i" in slashes["flags"] else ""
        words = "the slashes are a part of the text that it searches for"
        return words, f"write {slashes['inner']}{also}"
    for form, meaning, advice in _ODD:
        # after an even number of backslashes
        if found := re.search(rf"(?<!\\)(?:\\\\)*(?P<part>{form})", pattern):
            return f"{found['part']!r} {meaning}", found.expand(advice)
    return None
