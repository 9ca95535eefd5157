from __future__ import annotations

import base64
import json
import re
import unicodedata
from dataclasses import FrozenInstanceError
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sovl_tools import Audio, EmbeddedResource, Image, Text
from sovl_tools.model.content import CONTENT, Content, cut, encodable
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


def test_a_media_type_that_is_given_wins() -> None:
    assert Image(data=PNG, media_type="image/x-mine").media_type == "image/x-mine"
    assert Audio(data=b"any", media_type="audio/ogg; codecs=opus").media_type.endswith("opus")


@check_each("kind", [Image, Audio])
@check_each(
    ("arguments", "error", "words"),
    [
        ({"data": "text"}, TypeError, "data must be bytes, not str"),
        ({"data": bytearray(PNG)}, TypeError, "data must be bytes, not bytearray"),
        ({"data": b""}, ValueError, "data must not be empty"),
        ({"data": b"who knows"}, ValueError, "media_type is needed: the bytes do not identify the"),
        ({"data": PNG, "media_type": "text/plain"}, ValueError, "not be 'text/plain'"),
        ({"data": PNG, "media_type": "image/"}, ValueError, "media_type must begin with"),
        ({"data": PNG, "media_type": "audio"}, ValueError, "media_type must begin with"),
        ({"data": PNG, "media_type": 5}, TypeError, "media_type must be str, not int"),
    ],
    ids=lambda value: str(value)[:50],
)
def test_bad_media_is_refused(
    kind: Any, arguments: dict[str, Any], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        kind(**arguments)


def test_the_bytes_of_a_sound_are_no_picture() -> None:
    with pytest.raises(ValueError, match="do not identify the image"):
        Image(data=WAV)
    with pytest.raises(ValueError, match="do not identify the audio"):
        Audio(data=PNG)


def test_a_page_with_a_drawing_in_it_is_no_picture() -> None:
    with pytest.raises(ValueError, match="media_type is needed"):
        Image(data=b"<!DOCTYPE html><html><svg></svg></html>")


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


@moderate
@given(st.binary(min_size=1, max_size=200))
def test_base64_is_that_of_the_standard_library(data: bytes) -> None:
    assert Image(data, "image/png").to_json()["data"] == base64.b64encode(data).decode()


@check_each(
    ("content", "size"),
    [
        (Text("aß"), 3),
        (Image(PNG), 16),
        (EmbeddedResource("memo:1", "aß"), 3),
        (EmbeddedResource("memo:1", b"\xff\xff"), 2),
    ],
    ids=repr,
)
def test_content_knows_its_size_in_bytes(content: Content, size: int) -> None:
    assert content.size == size


def test_content_shows_no_bytes() -> None:
    assert repr(Image(PNG + bytes(2000))) == "<Image image/png, 2,016 bytes>"
    document = EmbeddedResource("memo:1", "hello" * 1000)
    assert repr(document) == "<EmbeddedResource memo:1, of no media type, 5,000 bytes>"
    assert "text/csv, 1 bytes" in repr(EmbeddedResource("memo:1", b"x", "text/csv"))


def test_content_is_equal_to_the_same_content_only() -> None:
    assert Image(PNG) == Image(PNG, "image/png")
    assert Image(PNG) != Image(PNG, "image/x-mine")
    assert len({Image(PNG), Image(PNG), Text("a")}) == 2
    assert all(isinstance(each, CONTENT) for each in (Text(""), Image(PNG), Audio(WAV)))


@check_each("content", [Text("a"), Image(PNG), EmbeddedResource("memo:1", "")])
def test_content_does_not_change(content: Any) -> None:
    with pytest.raises(FrozenInstanceError):
        setattr(content, next(iter(content.__dataclass_fields__)), "other")


def test_a_subclass_is_of_the_same_kind() -> None:
    class Chart(Image):
        """A picture of numbers."""

    chart = Chart(PNG)
    assert chart.to_json()["type"] == "image"
    assert repr(chart).startswith("<Chart image/png")


@pytest.mark.parametrize(
    ("name", "data", "media_type"),
    [
        ("drawing.bin", PNG, "image/png"),
        ("drawing.jpg", PNG, "image/png"),
        ("drawing.bmp", b"BM...", "image/bmp"),
        ("drawing", PNG, "image/png"),
    ],
)
def test_a_file_is_read_and_its_bytes_count_more_than_its_name(
    tmp_path: Path, name: str, data: bytes, media_type: str
) -> None:
    (tmp_path / name).write_bytes(data)
    assert Image.from_path(tmp_path / name) == Image(data, media_type)
    assert Image.from_path(str(tmp_path / name)).media_type == media_type


def test_the_media_type_of_a_file_may_be_given(tmp_path: Path) -> None:
    path = tmp_path / "tune.bin"
    path.write_bytes(b"...")
    assert Audio.from_path(path, "audio/midi") == Audio(b"...", "audio/midi")
    with pytest.raises(ValueError, match="must begin with 'audio/', not be 'image/png'"):
        Audio.from_path(path, "image/png")


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("notes.txt", b"hello", "notes.txt' must be an image, but is text/plain: give media_type"),
        ("notes", b"hello", "notes' must be an image, but is of an unknown type"),
        ("drawing.svgz", b"\x1f\x8b", "drawing.svgz' must be an image, but is of an unknown type"),
        ("empty.png", b"", "empty.png' is empty"),
    ],
)
def test_a_file_that_is_no_picture_is_refused(
    tmp_path: Path, name: str, data: bytes, words: str
) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(ValueError, match=words):
        Image.from_path(tmp_path / name)


def test_a_file_that_is_not_there_is_an_error_of_the_system(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        Image.from_path(tmp_path / "absent.png")
    with pytest.raises(FileNotFoundError):
        EmbeddedResource.from_path(tmp_path / "absent.txt")


@pytest.mark.parametrize(
    ("name", "data", "content", "media_type"),
    [
        ("a b.txt", "größe".encode(), "größe", "text/plain"),
        ("empty.html", b"", "", "text/html"),
        ("photo.png", b"\xff", b"\xff", "image/png"),
        ("photo", b"\xff\xd8\xff", b"\xff\xd8\xff", "image/jpeg"),
        ("notes", b"hello", "hello", None),
        ("notes.txt", b"ID3\x03", "ID3\x03", "text/plain"),
        ("notes.txt.gz", b"\x1f\x8b", b"\x1f\x8b", None),
    ],
)
def test_a_file_can_be_a_resource(
    tmp_path: Path, name: str, data: bytes, content: str | bytes, media_type: str | None
) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    expected = EmbeddedResource(path.as_uri(), content, media_type)
    assert EmbeddedResource.from_path(path) == expected
    assert EmbeddedResource.from_path(path, "text/x-mine", uri="memo:1") == EmbeddedResource(
        "memo:1", content, "text/x-mine"
    )


@check_each(
    ("arguments", "error", "words"),
    [
        (("", "x"), ValueError, "uri must not be empty"),
        ((5, "x"), TypeError, "uri must be str, not int"),
        (("memo:1", None), TypeError, "content must be str or bytes, not NoneType"),
        (("memo:1", "x", "text"), ValueError, "media_type must be like 'text/plain', not 'text'"),
        (("memo:1", "x", 5), TypeError, "media_type must be str, not int"),
    ],
    ids=repr,
)
def test_a_bad_resource_is_refused(arguments: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        EmbeddedResource(*arguments)


def test_a_text_must_be_a_string() -> None:
    with pytest.raises(TypeError, match="text must be str, not bytes"):
        Text(b"hello")  # type: ignore[arg-type]  # what is tested


def test_halves_of_surrogate_pairs_do_not_stay_in_content() -> None:
    assert Text("a\ud800b").text == "a\ufffdb"
    resource = EmbeddedResource("memo:\udcff", "\ud83d\ude80", "text/plain;x=\udcff")
    assert json.dumps(resource.to_json(), ensure_ascii=False).encode()
    assert resource.content == "\U0001f680"


@moderate
@given(st.text(st.characters() | st.characters(categories=["Cs"]), max_size=8))
def test_a_text_is_made_encodable_and_otherwise_stays(text: str) -> None:
    result = encodable(text)
    assert result.encode().decode() == result
    assert len(result) <= len(text)
    try:
        text.encode()
    except UnicodeEncodeError:
        assert result != text
    else:
        assert result == text


def test_a_string_of_somebodys_own_type_becomes_a_plain_one() -> None:
    class Mine(str):
        __slots__ = ()

    assert type(Text(Mine("a")).text) is str


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


def test_a_text_that_is_cut_says_so() -> None:
    result = cut("x" * 98_765, 12_345)
    assert result.lstrip("x") == "… [cut: 12,312 of 98,765 bytes]"
    assert len(result.encode()) == 12_345


@check_each(
    ("limit", "expected"), [(0, ""), (1, "x"), (5, "xxxxx"), (6, "xxx…"), (20, "x" * 17 + "…")]
)
def test_a_small_limit_has_no_room_for_many_words(limit: int, expected: str) -> None:
    assert cut("x" * 30, limit) == expected


@check_each(
    "cluster",
    ["e\u0301", "\U0001f469\u200d\U0001f52c", "\U0001f44b\U0001f3fd", "\u0928\u0940", "a\ufe0f"],
    ids=ascii,
)
def test_what_belongs_to_a_letter_is_not_cut_off(cluster: str) -> None:
    text = "ab" + cluster * 20
    for limit in range(6, len(text.encode())):
        kept = cut(text, limit).partition("…")[0]
        assert kept.replace(cluster, "") in {"a", "ab"}


def test_an_endless_row_of_marks_is_cut_somewhere() -> None:
    text = "e" + "\u0301" * 10_000
    kept, _, words = cut(text, 1000).partition("…")
    assert unicodedata.combining(text[len(kept)])
    assert words
    assert len(kept) > 400
