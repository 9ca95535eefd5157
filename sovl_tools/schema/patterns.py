r"""Regular expressions of ECMA-262 (without the flag ``u``), as the engines understand them.

The engines reject a few forms that ECMA-262 accepts in its Annex B, such as ``[\w-.]``, ``a{`` and
``\e``. A pattern that an engine rejects is written in plainer forms.
"""

from __future__ import annotations

import re

from sovl_tools.model.document import JSON
from sovl_tools.schema.subschemas import with_subschemas


def with_translated(schema: JSON) -> JSON:
    """Return a schema with all its patterns translated."""
    if not isinstance(schema, dict):
        return schema
    copy = with_subschemas(schema, with_translated)
    if isinstance(copy.get("pattern"), str):
        copy["pattern"] = translated(copy["pattern"])
    if isinstance(copy.get("patternProperties"), dict):
        copy["patternProperties"] = {
            translated(key): each for key, each in copy["patternProperties"].items()
        }
    return copy


_ESCAPE = r"\\(?:c[A-Za-z]|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|[pP]\{[\w=]+\}|k<[A-Za-z_]\w*>|.)"
_TOKEN = re.compile(
    rf"(?P<escape>{_ESCAPE})|\[(?P<negation>\^?)(?P<members>(?:\\.|[^\]\\])*)\]"
    r"|(?P<name>\(\?<(?=[A-Za-z_]))|\{[0-9]+(?:,[0-9]*)?\}|(?P<plain>[{}\]])",
    re.DOTALL,
)
"""An escape, a class, the beginning of a group with a name, a quantifier, or a lone bracket."""
_MEMBER = re.compile(f"{_ESCAPE}|.", re.DOTALL)
_CLASSES = frozenset({r"\d", r"\D", r"\w", r"\W", r"\s", r"\S"})


def translated(pattern: str) -> str:
    """Return a pattern in forms that every engine understands."""
    return _TOKEN.sub(_plainer, pattern)


def _plainer(found: re.Match[str]) -> str:
    if found["escape"]:
        return _escape(found["escape"])
    if found["members"] is not None:
        return _class(found["negation"], found["members"])
    if found["name"]:
        return "(?P<"
    return f"\\{found['plain']}" if found["plain"] else found[0]


def _escape(text: str) -> str:
    char = text[1]
    if char == "c" and len(text) > len(r"\c"):
        return f"\\x{ord(text[2]) % 32:02x}"
    is_known = len(text) > len(r"\c") or char in "dDwWsSbBtnvfr123456789"
    return r"\x00" if char == "0" else text if is_known else re.escape(char)


def _class(negation: str, members: str) -> str:
    if not members:
        return r"[\s\S]" if negation else r"[^\s\S]"
    found = _MEMBER.findall(members)
    made = []
    for before, each, after in zip(["", *found], found, [*found[1:], ""], strict=False):
        if each == "[" or (each == "-" and not _CLASSES.isdisjoint({before, after})):
            made.append(f"\\{each}")  # next to a class the "-" is a character
        elif each == r"\b":
            made.append(r"\x08")
        else:
            made.append(r"\-" if each == r"\-" else _escape(each) if len(each) > 1 else each)
    return f"[{negation}{''.join(made)}]"


_GLOB = re.compile(r"[*?][\w.*?-]*")
_FOREIGN = ((r"\(\?>", "(?:"), (r"\(\?#[^)]*\)", ""))
"""Groups of other languages, and what to write instead."""
_LITERAL = re.compile(r"\\.|\[(?:\\.|[^\]\\])*\]", re.DOTALL)


def foreign_group(pattern: str) -> tuple[str, str] | None:
    """Return what is wrong with a group that only other languages have, and advice."""
    for form, instead in _FOREIGN:
        if group := re.search(form, _LITERAL.sub("", pattern)):
            advice = re.sub(form, instead, pattern)
            return f"ECMA-262 has no group {group[0][:3]!r}", f"write {advice}"
    return None


def complaint(pattern: str) -> tuple[str, str | None]:
    """Return why the engine rejects a pattern, and the right form if there is one."""
    if _GLOB.fullmatch(pattern):  # a pattern of file names
        meant = re.escape(pattern).replace(r"\*", ".*").replace(r"\?", ".")
        return "there's nothing to repeat", f"write ^{meant}$"
    try:
        re.compile(translated(pattern))
    except re.error as error:
        if not error.msg.startswith("bad escape \\"):  # which the engines may know
            return f"{error.msg} (character {(error.pos or 0) + 1})", None
    return "the engine can't use it", None


_SLASHES = re.compile(r"/(?P<inner>.+)/(?P<flags>[a-z]*)", re.DOTALL)
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
