"""What kind of content an answer has, and its text."""

import codecs
import re

# Names of the text encodings of web pages. Others of Python's codecs are slow or no encodings.
_ENCODING = re.compile(
    r"(us-)?ascii|latin-?1|utf-?8|utf-?(16|32)([-_]?[lb]e)?|iso-?8859-?\d+|windows-?\d+|cp\d+"
    r"|koi8-[ru]|shift[-_]?jis|euc[-_](jp|kr)|iso-2022-jp|gb(k|2312|18030)|big5|macintosh"
)
_TEXT_TYPE = re.compile(
    r"text/.*|application/(json|xml|javascript|ecmascript|x-www-form-urlencoded|graphql|toml"
    r"|(x-)?yaml|x-ndjson|rtf|sql)|[^/]+/[^/]+\+(json|xml|yaml|text)"
)


def is_text(content_type: str) -> bool:
    """Tell from a content type whether the content is text; without one, it can be."""
    kind = content_type.partition(";")[0].strip().lower()
    return not kind or _TEXT_TYPE.fullmatch(kind) is not None


def decode(content: bytes, encoding: str | None, *, truncated: bool) -> str:
    """Return the text with invalid bytes replaced, without a character cut off at the end."""
    name = (encoding or "utf-8").strip().lower()
    codec = name if _ENCODING.fullmatch(name) and _exists(name) else "utf-8"
    decoder = codecs.getincrementaldecoder(codec)("replace")
    return decoder.decode(content, final=not truncated).removeprefix("\ufeff")


def _exists(name: str) -> bool:
    try:
        codecs.lookup(name)
    except LookupError:
        return False
    return True
