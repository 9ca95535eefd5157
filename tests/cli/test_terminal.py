"""What a terminal shows: no wider than it is, with whole words, and data as text."""

from __future__ import annotations

import io
import json
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rich.cells import cell_len

from sovl_tools.cli.terminal import WordWrap, styled
from sovl_tools.reporting.text import plain
from tests.conftest import Run, Write, manifest_of
from tests.schema.strategies import moderate

EVIL = "[red]a[/red] [/] :smile: \x1b[2J \u202eb"
SHOWN = r"[red]a[/red] [/] :smile: \x1b[2J \u202eb"
_STYLE = re.compile(r"\x1b\[[\d;]+m")


def unstyled_lines(text: str) -> list[str]:
    return _STYLE.sub("", text).replace("\r\n", "\n").split("\n")


def test_a_narrow_terminal_hides_tags_then_categories(terminal: Run, write: Write) -> None:
    for name in ("echo", "a_rather_long_name"):
        write(
            name, manifest_of(name, tags=["one", "another"], category="words", description="d" * 90)
        )
    for width, head in (
        ("120", ["NAME", "CATEGORY", "TAGS", "DESCRIPTION"]),
        ("64", ["NAME", "CATEGORY", "DESCRIPTION"]),
        ("50", ["NAME", "DESCRIPTION"]),
    ):
        lines = unstyled_lines(terminal("list", COLUMNS=width).out)
        assert lines[0].split() == head
        assert max(map(len, lines)) <= int(width)
        assert lines[1].startswith("a_rather_long_name ")
        assert lines[1].endswith("d…")


@pytest.mark.parametrize("command", ["list", "show", "call", "search", "validate"])
def test_what_tools_say_is_text_and_never_markup(terminal: Run, write: Write, command: str) -> None:
    code = f"def echo(text: str) -> str:\n    return {EVIL!r}\n"
    write("echo", manifest_of("echo", description=f"{EVIL}", **{EVIL: 1}), code)
    arguments = {"show": ["echo"], "call": ["echo", "text=a"], "search": ["a"]}.get(command, [])
    out = terminal(command, *arguments, NO_COLOR="1").out
    assert "\x1b[2J" not in out
    assert "\u202e" not in out
    if command == "call":
        assert json.loads(out) == EVIL
    elif command != "search":
        assert SHOWN in out


def test_a_result_is_json_that_can_be_copied(terminal: Run, write: Write) -> None:
    value = {"words": "word " * 60, "more": [1, None, True]}
    write("echo", code=f"def echo(text: str) -> dict:\n    return {value!r}\n")
    out = terminal("call", "echo", "text=a", COLUMNS="40").out
    assert "\x1b[" in out
    assert json.loads(_STYLE.sub("", out)) == value
    assert out.count("\n") == 8


def test_messages_and_excerpts_fit_the_width(terminal: Run, write: Write) -> None:
    long = {
        "type": "object",
        "properties": {"text": {"type": "string", "descripton": "word " * 60}},
    }
    write("echo", json.dumps(manifest_of("echo", parameters=long)))
    shown = unstyled_lines(terminal("validate", COLUMNS="60").out)
    assert max(map(len, shown)) <= 60
    (source,) = [number for number, line in enumerate(shown) if line.startswith("1 | ")][:1]
    place = shown[source + 1].index("^")
    assert shown[source][place] == '"'
    failed = unstyled_lines(terminal("call", "echo", "text=1", "more=" + "x" * 9, COLUMNS="60").out)
    assert max(map(len, failed)) <= 60


class Screen(io.StringIO):
    """A terminal."""

    def isatty(self) -> bool:
        return True

    def fileno(self) -> int:
        raise io.UnsupportedOperation


WORDS = st.text("ab [/]:日\x1b\n ", max_size=60).map(
    lambda text: "\n".join(map(plain, text.split("\n")))
)


@moderate
@given(WORDS, st.integers(20, 60))
def test_wrapped_text_has_all_words_and_fits(text: str, width: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", str(width))
        shown = styled([text], Screen())
    assert "".join(shown.split()) == "".join(text.split())
    assert all(cell_len(line) <= width for line in shown.split("\n"))


@moderate
@given(st.lists(WORDS), st.integers(5, 30))
@example(["aaa b", "bb", " c"], 6)
def test_a_text_in_pieces_is_wrapped_between_its_words(pieces: list[str], width: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", str(width))
        wrap = WordWrap(Screen())
    shown = "".join(map(wrap.add, pieces)) + wrap.end()
    assert shown.split() == "".join(pieces).split(), "no word is broken"
    for line in shown.split("\n"):
        assert cell_len(line) <= width or len(line.split()) == 1
