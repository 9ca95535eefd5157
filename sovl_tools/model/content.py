"""Content other than JSON in the results of tools: text, images, audio, documents."""

from __future__ import annotations

import os
import re
from binascii import b2a_base64
from dataclasses import dataclass
from typing import ClassVar, Self, TypeAlias

from sovl_tools.model.document import JSON

_MAGIC = {
    "image/png": rb"\x89PNG\r\n\x1a\n",
    "image/jpeg": rb"\xff\xd8\xff",
    "image/gif": rb"GIF8[79]a",
    "image/webp": rb"RIFF.{4}WEBP",
    "image/svg+xml": rb"(\xef\xbb\xbf)?\s*(<(\?xml|!--|!DOCTYPE svg).{0,2000}?)?<svg[\s>]",
    "audio/wav": rb"RIFF.{4}WAVE",
    "audio/mpeg": rb"ID3[\x02-\x04]|\xff[\xe2\xe3\xf2\xf3\xfa\xfb]",
    "audio/ogg": rb"OggS",
    "audio/flac": rb"fLaC",
}


@dataclass(frozen=True)
class Text:
    """Text as one of several parts of a result.

    Raises:
        TypeError: the text isn't a string.
    """

    text: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", _checked("text", self.text))

    @property
    def size(self) -> int:
        """The number of bytes in UTF-8."""
        return len(self.text.encode())

    def to_json(self) -> dict[str, JSON]:
        """Return the content block of the Model Context Protocol."""
        return {"type": "text", "text": self.text}


@dataclass(frozen=True, repr=False)
class _Media:
    """Bytes of a media type, such as ``image/png``.

    Raises:
        TypeError: the data aren't bytes, or the media type isn't a string.
        ValueError: the data are empty, or the media type has another kind, or is neither given nor
            recognised.
    """

    data: bytes
    media_type: str = ""

    _kind: ClassVar[str] = ""

    def __post_init__(self) -> None:
        if not isinstance(self.data, bytes):
            raise TypeError(f"data must be bytes, not {type(self.data).__name__}")
        if not self.data:
            raise ValueError("data must not be empty")
        given = _checked("media_type", self.media_type or sniffed(self.data, self._kind) or "")
        if not given:
            raise ValueError(f"media_type is needed: the bytes do not identify the {self._kind}")
        # providers reject an image as ``audio/…``
        if not re.match(rf"{self._kind}/\S", given):
            raise ValueError(f"media_type must begin with '{self._kind}/', not be {given!r}")
        object.__setattr__(self, "media_type", given)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.media_type}, {len(self.data):,} bytes>"

    @property
    def size(self) -> int:
        """The number of bytes."""
        return len(self.data)

    def to_json(self) -> dict[str, JSON]:
        """Return the content block of the Model Context Protocol, the bytes in base64."""
        return {"type": self._kind, "data": base64(self.data), "mimeType": self.media_type}

    @classmethod
    def from_path(cls, path: str | os.PathLike[str], media_type: str | None = None) -> Self:
        """Return the content of a file.

        By default, the bytes determine the media type, or else the file's name.

        Raises:
            OSError: the file can't be read.
            ValueError: the file is empty, or its media type has another kind or is unknown.
        """
        name = os.fspath(path)
        with open(name, "rb") as file:
            data = file.read()
        if not data:
            raise ValueError(f"{name!r} is empty")
        found = media_type or sniffed(data, cls._kind) or _guessed(name) or "of an unknown type"
        if media_type is None and not found.startswith(f"{cls._kind}/"):
            raise ValueError(f"{name!r} must be an {cls._kind}, but is {found}: give media_type")
        return cls(data, found)


class Image(_Media):
    """A picture.

    The media type of PNG, JPEG, GIF, WebP and SVG is recognised; pass the type of other formats.
    """

    __slots__ = ()
    _kind = "image"


class Audio(_Media):
    """A sound.

    The media type of WAV, MP3, OGG and FLAC is recognised; pass the type of other formats.
    """

    __slots__ = ()
    _kind = "audio"


@dataclass(frozen=True)
class EmbeddedResource:
    """A document with an address; its content is text or bytes.

    Raises:
        TypeError: the content is neither text nor bytes, or another field isn't a string.
        ValueError: the URI is empty, or the media type is not of the form ``type/subtype``.
    """

    uri: str
    content: str | bytes
    media_type: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "uri", _checked("uri", self.uri))
        if not self.uri:
            raise ValueError("uri must not be empty")
        if not isinstance(self.content, bytes):
            object.__setattr__(self, "content", _checked("content", self.content, "str or bytes"))
        if self.media_type is None:
            return
        object.__setattr__(self, "media_type", _checked("media_type", self.media_type))
        # parameters may follow, as in ``text/plain; charset=utf-8``
        if not re.match(r"[^\s/]+/\S", self.media_type):
            raise ValueError(f"media_type must be like 'text/plain', not {self.media_type!r}")

    def __repr__(self) -> str:
        words = f"<EmbeddedResource {self.uri}, {self.media_type or 'of no media type'}"
        return f"{words}, {self.size:,} bytes>"

    @property
    def size(self) -> int:
        """The number of bytes; of text, in UTF-8."""
        return len(self.content.encode() if isinstance(self.content, str) else self.content)

    def to_json(self) -> dict[str, JSON]:
        """Return the content block of the Model Context Protocol, bytes in base64."""
        resource: dict[str, JSON] = {"uri": self.uri}
        if self.media_type is not None:
            resource["mimeType"] = self.media_type
        if isinstance(self.content, str):
            resource["text"] = self.content
        else:
            resource["blob"] = base64(self.content)
        return {"type": "resource", "resource": resource}

    @classmethod
    def from_path(
        cls, path: str | os.PathLike[str], media_type: str | None = None, *, uri: str | None = None
    ) -> Self:
        """Return the content of a file, as text if it is UTF-8.

        Args:
            path: where the file is.
            media_type: by default, the file's name determines it, or else the bytes.
            uri: the address that the model sees; the file's by default.

        Raises:
            OSError: the file can't be read.
        """
        from pathlib import Path  # noqa: PLC0415 - it would slow every start

        with open(path, "rb") as file:
            data = file.read()
        text = readable(data)
        content = data if text is None else text
        address = uri or Path(path).absolute().as_uri()
        return cls(address, content, media_type or _guessed(path) or sniffed(data))


Content: TypeAlias = Text | Image | Audio | EmbeddedResource

CONTENT = (Text, Image, Audio, EmbeddedResource)
"""The classes of content, for ``isinstance``."""


@dataclass(frozen=True)
class Structured:
    """A value for programs, with the content that a model reads for it, as MCP has both."""

    value: JSON
    content: tuple[Content, ...]


def sniffed(data: bytes, kind: str = "") -> str | None:
    """Return the media type by the first bytes of a file; None unless it has the given kind."""
    for media_type, magic in _MAGIC.items():
        if media_type.startswith(kind) and re.match(magic, data, re.DOTALL):
            return media_type
    return None


def base64(data: bytes) -> str:
    """Return the bytes in base64, on one line."""
    return b2a_base64(data, newline=False).decode()


def readable(data: bytes) -> str | None:
    """Decode bytes; None if they aren't UTF-8."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None


def encodable(text: str) -> str:
    """Return the text as it can be encoded in UTF-8, a plain string.

    Two halves of a surrogate pair become the character, a lone one U+FFFD.
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return str.__str__(text)


def cut(text: str, limit: int) -> str:
    """Shorten a string to ``limit`` bytes in UTF-8.

    A note at the end reports the cut, unless that takes more than half of the limit.
    """
    data = text.encode()
    if len(data) <= limit:
        return text
    sizes = limit, len(data)
    # the empty mark is always short enough; the number in a mark can only get shorter
    mark = next(each for each in _MARKS if 2 * len(each.format(*sizes).encode()) <= limit)
    # drop a character whose bytes are cut in two
    start = data[: limit - len(mark.format(*sizes).encode())].decode(errors="ignore")
    return start + mark.format(len(start.encode()), len(data))


def cut_characters(text: str, limit: int) -> str:
    """Shorten a string to ``limit`` characters, with a note at the end."""
    if len(text) <= limit:
        return text
    mark = f"… [cut: {{:,}} of {len(text):,} characters]"
    end = max(0, limit - len(mark.format(limit)))
    return text[:end] + mark.format(end)


_MARKS = ("… [cut: {:,} of {:,} bytes]", "…", "")


def _checked(name: str, value: object, expected: str = "str") -> str:
    if not isinstance(value, str):
        raise TypeError(f"{name} must be {expected}, not {type(value).__name__}")
    return encodable(value)


def _guessed(path: str | os.PathLike[str]) -> str | None:
    """Return the media type that a file's name suggests."""
    import mimetypes  # noqa: PLC0415 - it reads the system's tables

    media_type, compression = mimetypes.guess_type(os.fspath(path))
    # ``page.svg.gz`` isn't an SVG
    return None if compression else media_type


def is_block(value: JSON) -> bool:
    """Return whether a value looks like a content block."""
    return (
        isinstance(value, dict)
        and isinstance(value.get("type"), str)
        and all(isinstance(value.get(key, ""), str) for key in ("text", "mimeType"))
    )
