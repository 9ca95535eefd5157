from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sovl_tools import Audio, EmbeddedResource, Image, Text
from sovl_tools.model.content import Content, cut
from tests.schema.strategies import moderate
from tests.tables import check_each

PNG = b"\x89PNG\r\n\x1a\n" + bytes(8)
WAV = b"RIFF\x24\x00\x00\x00WAVEfmt "
IMAGES = {
    "image/png": [PNG],
    "image/jpeg": [b"\xff\xd8\xff\xe0\x00\x10JFIF"],
    "image/gif": [b"GIF89a...", b"GIF87a..."],
    "image/webp": [b"RIFF\n\x00\x00\x00WEBPVP8 "],
    "image/svg+xml": [
        b"<svg>",
        b'<svg xmlns="http://www.w3.org/2000/svg"/>',
        b'\xef\xbb\xbf<?xml version="1.0"?>\n<!-- a drawing -->\n<svg\n>',
        b'\n<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN">\n<svg>',
    ],
}
SOUNDS = {
    "audio/wav": [WAV],
    "audio/mpeg": [b"ID3\x04\x00", b"\xff\xfb\x90\x64", b"\xff\xf3\x40", b"\xff\xe3\x18"],
    "audio/ogg": [b"OggS\x00\x02"],
    "audio/flac": [b"fLaC\x00\x00"],
}
EACH_IMAGE = [(kind, data) for kind, examples in IMAGES.items() for data in examples]
EACH_SOUND = [(kind, data) for kind, examples in SOUNDS.items() for data in examples]


@check_each(("media_type", "data"), EACH_IMAGE)
def test_the_bytes_of_a_picture_tell_its_media_type(media_type: str, data: bytes) -> None:
    assert Image(data=data).media_type == media_type


@check_each(("media_type", "data"), EACH_SOUND)
def test_the_bytes_of_a_sound_tell_its_media_type(media_type: str, data: bytes) -> None:
    assert Audio(data=data).media_type == media_type


@check_each("kind", [Image, Audio])
@check_each(
    ("arguments", "error", "words"),
    [
        ({"data": "text"}, TypeError, "data must be bytes, not str"),
        ({"data": b""}, ValueError, "data must not be empty"),
        ({"data": b"who knows"}, ValueError, "media_type is needed: the bytes do not identify the"),
        ({"data": PNG, "media_type": "text/plain"}, ValueError, "not be 'text/plain'"),
    ],
    ids=lambda value: str(value)[:50],
)
def test_bad_media_is_refused(
    kind: Any, arguments: dict[str, Any], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        kind(**arguments)


@check_each(
    ("content", "block"),
    [
        (Text("a ß"), {"type": "text", "text": "a ß"}),
        (
            Image(b"\xff\xd8\xff"),
            {"type": "image", "data": "/9j/", "mimeType": "image/jpeg"},
        ),
        (
            Audio(b"OggS"),
            {"type": "audio", "data": "T2dnUw==", "mimeType": "audio/ogg"},
        ),
        (
            EmbeddedResource("memo:1", "hello", "text/plain"),
            {
                "type": "resource",
                "resource": {"uri": "memo:1", "mimeType": "text/plain", "text": "hello"},
            },
        ),
        (
            EmbeddedResource("memo:2", b"\xff"),
            {"type": "resource", "resource": {"uri": "memo:2", "blob": "/w=="}},
        ),
    ],
    ids=lambda value: type(value).__name__,
)
def test_content_is_a_block_of_the_model_context_protocol(
    content: Content, block: dict[str, Any]
) -> None:
    assert content.to_json() == block


@pytest.mark.parametrize(
    ("name", "data", "media_type"),
    [
        ("drawing.jpg", PNG, "image/png"),
        ("drawing.bmp", b"BM...", "image/bmp"),
    ],
)
def test_a_file_is_read_and_its_bytes_count_more_than_its_name(
    tmp_path: Path, name: str, data: bytes, media_type: str
) -> None:
    (tmp_path / name).write_bytes(data)
    assert Image.from_path(tmp_path / name) == Image(data, media_type)
    assert Image.from_path(str(tmp_path / name)).media_type == media_type


CUT = re.compile(r"(.*?)(… \[cut: ([\d,]+) of ([\d,]+) bytes\]|…|)", re.DOTALL)


@moderate
@given(
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="…"), max_size=120)
    | st.text("aé\u0301\u200d\U0001f469\U0001f3fd", max_size=120),
    st.integers(0, 200),
)
def test_a_text_is_cut_to_the_limit_between_characters(text: str, limit: int) -> None:
    result = cut(text, limit)
    if len(text.encode()) <= limit:
        assert result is text
        return
    found = CUT.fullmatch(result)
    assert found is not None
    kept, _, size, whole = found.groups()
    assert len(result.encode()) <= limit
    assert len(kept) < len(text)
    assert text.startswith(kept)
    if size is not None:
        assert (int(size), int(whole)) == (len(kept.encode()), len(text.encode()))
