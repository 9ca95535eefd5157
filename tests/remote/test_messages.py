"""What a hostile or careless server sends, before the SDK reads it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sovl_tools.remote.messages import LineDecoder, repaired

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters()),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters()), inner),
    max_leaves=8,
)
LINES = st.binary(max_size=40) | st.builds(
    lambda value, ascii_: json.dumps(value, ensure_ascii=ascii_).encode("utf-8", "replace"),
    st.fixed_dictionaries({"jsonrpc": st.just("2.0"), "id": st.integers(0, 9), "result": JSON}),
    st.booleans(),
)


def decode(data: bytes, size: int) -> list[str]:
    decoder = LineDecoder()
    parts = [decoder.decode(data[at : at + size]) for at in range(0, len(data), size)]
    assert all(part.endswith("\n") for part in parts if part)
    return "".join([*parts, decoder.decode(b"", final=True)]).split("\n")


@given(st.lists(LINES), st.integers(1, 50))
def test_lines_of_anything_come_whole_and_readable_however_they_arrive(
    lines: list[bytes], size: int
) -> None:
    data = b"\n".join(lines)
    found = decode(data, size)
    assert found == decode(data, len(data) + 1)
    for line in found:
        line.encode()
    sound = [json.loads(line) for line in found if line.startswith('{"jsonrpc"')]
    assert len(sound) >= sum(line.startswith(b'{"jsonrpc"') for line in lines)


@pytest.mark.parametrize("ends", [b"", b"\n"])
@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b'{"jsonrpc": "2.0", "id": 7, "result": nothing}', "expected ident"),
        (b'{"result": nothing, "jsonrpc": "2.0", "id": 7}', "expected ident"),
        (b'{"id":7,"result":%s}' % (b"9" * 5000), "number out of range"),
        (b'{"id":7,"result":%s}' % (b"[" * 5000 + b"]" * 5000), "recursion limit"),
        (b'{"id":7,"result":"%s"}' % (b"x" * 1001), "longer than 1,000 bytes"),
    ],
)
def test_an_answer_that_can_not_be_read_is_an_error_at_once(
    line: bytes, reason: str, ends: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "longer" in reason:
        monkeypatch.setattr("sovl_tools.remote.messages.MAX_MESSAGE", 1000)
        monkeypatch.setattr("sovl_tools.remote.messages._TOO_LONG", "longer than 1,000 bytes")
    (answer,) = filter(None, decode(line + ends, 300))
    said = json.loads(answer)
    assert said["id"] == 7
    assert "the answer can't be read" in said["error"]["message"]
    assert reason in said["error"]["message"]


def nested(levels: int) -> Any:
    return {"a": nested(levels - 1)} if levels else 1


def test_half_a_surrogate_pair_and_what_is_too_deep_cost_no_more_than_themselves() -> None:
    said = {"tools": [{"name": "a", "description": "\ud800"}, {"name": "b", "x": nested(300)}]}
    found = json.loads(repaired(json.dumps(said).encode()))
    assert found["tools"][0] == {"name": "a", "description": "?"}
    assert found["tools"][1]["name"] == "b"


def test_there_is_no_other_encoding_of_that_name() -> None:
    with pytest.raises(LookupError):
        "x".encode("sovl_tools_line")
    assert "ä".encode("sovl_tools_lines").decode("sovl_tools_lines") == "ä"
