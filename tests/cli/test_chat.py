from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from sovl_tools.cli.main import group
from sovl_tools.testing import ScriptedServer, calls, drops, fails, says
from tests.cli.sessions import CTRL_C, CTRL_D, UP, Session, session
from tests.conftest import (
    Done,
    Write,
    manifest_of,
)

KEYS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "OPENROUTER_API_KEY", "OPENAI_MODEL", "NO_COLOR")
ADD = {
    "name": "add",
    "description": "Add two numbers.",
    "activation_phrases": ["sum up"],
    "tags": ["math"],
    "parameters": {
        "type": "object",
        "properties": {
            "a": {"type": "integer", "description": "The first."},
            "b": {"type": "integer", "description": "The second."},
        },
        "required": ["a", "b"],
    },
}
ADDING = "def add(a: int, b: int) -> int:\n    print('adding')\n    return a + b\n"

Chat = Callable[..., Done]
Talking = Callable[..., AbstractContextManager[Session]]


@pytest.fixture(autouse=True)
def _unset(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for key in KEYS:
        monkeypatch.delenv(key, raising=False)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.fixture
def add(write: Write) -> Path:
    return write("add", ADD, ADDING)


@pytest.fixture
def chat(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> Chat:
    """Run ``sovl-tools chat`` in this process, with lines for its standard input."""
    monkeypatch.chdir(tmp_path)

    def command(
        *said: str, options: tuple[str, ...] = ("--provider", "local"), **more: Any
    ) -> Done:
        text = "".join(f"{line}\n" for line in said)
        monkeypatch.setattr(sys, "stdin", more.get("stdin", io.StringIO(text)))
        with pytest.raises(SystemExit) as ended:
            group.main([*more.get("before", ()), "chat", *options])
        out, err = capfd.readouterr()
        return Done(int(str(ended.value.code)), out, err)

    return command


@pytest.mark.usefixtures("add")
def test_answers_are_all_that_is_on_the_standard_output(chat: Chat) -> None:
    done = chat("add a=5 b=3")
    assert (done.code, done.out) == (0, "8\n")
    assert done.err == "→ add(a=5, b=3)\nadding\n"
    assert "\x1b" not in done.err


@pytest.mark.usefixtures("add")
def test_tools_are_listed_and_found(write: Write, chat: Chat) -> None:
    write("echo")
    everything, found, nothing = (chat(each).out for each in ("/tools", "/tools sum", "/tools xyz"))
    assert everything.splitlines() == [
        "NAME  CATEGORY  TAGS  DESCRIPTION",
        "add             math  Add two numbers.",
        "echo                  Say something.",
    ]
    assert "echo" not in found
    assert nothing == "no tool has any of these words\n"


@pytest.mark.usefixtures("add")
@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("/tols", "there's no command '/tols'; did you mean '/tools'?"),
        ("/clear all", "/clear takes no arguments, not 'all'"),
        ("/load", "/load takes FILE, not ''"),
        ("/load nowhere.json", "'nowhere.json': No such file or directory"),
        ("/load text.txt", "'text.txt' can't be loaded: Expecting value"),
        ("/save text.txt", "'text.txt' is already there and has no conversation"),
    ],
)
def test_a_command_that_fails_says_why_and_the_chat_goes_on(
    line: str, words: str, chat: Chat, tmp_path: Path
) -> None:
    (tmp_path / "text.txt").write_text("precious")
    done = chat(line, "add a=5 b=3")
    assert done.code == 1
    assert done.out == "8\n"
    assert done.err.startswith(words)
    assert (tmp_path / "text.txt").read_text() == "precious"


@pytest.mark.usefixtures("add")
def test_a_conversation_is_saved_loaded_and_cleared(chat: Chat, tmp_path: Path) -> None:
    done = chat("sum up", "5", "/save it.json", "/save it.json", "/clear", "3")
    assert done.code == 0
    assert done.out.count("4 messages saved in it.json\n") == 2
    assert "this is a new conversation\nNo tool matches that." in done.out
    assert chat("/load it.json", "3").out == "4 messages loaded from it.json\n8\n"
    assert chat("/save").out.startswith("0 messages saved in chat-20")
    (saved,) = tmp_path.glob("chat-*.json")
    assert json.loads(saved.read_text()) == []


def openai_of(server: ScriptedServer) -> tuple[str, ...]:
    return ("--model", "any", "--base-url", server.openai_url)


@pytest.mark.usefixtures("add")
def test_a_model_streams_its_answer_and_calls_tools(chat: Chat) -> None:
    script = [
        calls(("add", {"a": 5, "b": 3}), text="Let me see."),
        says("It is 8.\nIs that \x1b[31mall?"),
        says("Bye."),
    ]
    with ScriptedServer(script) as server:
        done = chat("5 and 3?", "Yes.", options=(*openai_of(server), "--system", "Be short."))
        first = server.requests[0].body
    assert done == Done(
        0,
        "Let me see.\nIt is 8.\nIs that \\x1b[31mall?\nBye.\n",
        "→ add(a=5, b=3)\nadding\n← 8\n",
    )
    assert first["messages"][0] == {"role": "system", "content": "Be short."}
    assert first["stream"] is True


@pytest.mark.usefixtures("add")
@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (fails(401, "no such key", headers={}), "no such key; set OPENAI_API_KEY"),
        (
            fails(429, "slow down", headers={"retry-after": "7", "x-should-retry": "false"}),
            "slow down; try again in 7 s",
        ),
        (fails(400, "what\nis that"), "what is that"),
        (drops(says("half of it all"), after=4), "onnection"),
        (says("cut", cut=True), "the answer was cut off"),
    ],
    ids=["key", "limit", "bad", "dropped", "cut"],
)
def test_an_error_of_the_provider_is_one_line_and_the_chat_goes_on(
    reply: Any, words: str, chat: Chat
) -> None:
    with ScriptedServer([reply, says("Here I am.")]) as server:
        done = chat("Hello?", "Hello?", options=openai_of(server))
    assert done.code == 1
    assert done.out.splitlines()[-1] == "Here I am.", "the error has ended the line before"
    assert words in done.err
    assert len(done.err.splitlines()) == 1


@pytest.mark.usefixtures("add")
@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--provider", "openai"), "OPENAI_API_KEY"),
        (("--provider", "nobody"), "'nobody' is not one of"),
        (("--tools", "nowhere"), "there's no 'nowhere'"),
    ],
)
def test_who_can_not_be_asked_is_misuse(options: tuple[str, ...], words: str, chat: Chat) -> None:
    done = chat("Hello?", options=options)
    assert done.code == 2
    assert words in done.err
    assert "Traceback" not in done.err


@pytest.fixture
def talking(tmp_path: Path) -> Talking:
    """Begin a chat on a terminal."""
    command = ("chat", "--provider", "local")
    return partial(session, tmp_path, *command)


def started(talk: Session) -> Session:
    talk.await_text("Ctrl-D leaves\n> ")
    return talk


@pytest.mark.usefixtures("add")
def test_a_session_on_a_terminal(write: Write, tmp_path: Path, talking: Talking) -> None:
    with talking() as talk:
        assert "1 tool; local answers" in talk.await_text("/help lists the commands")
        started(talk)
        talk.type("hello")
        talk.await_text("- add: Add two numbers.")
        talk.await_text("> ")
        talk.type("sum up")
        talk.await_text("a (integer): The first.")
        talk.type("five")
        talk.await_text('a: must be an integer, not the string "five".')
        talk.await_text("> ")
        talk.type("5")
        talk.await_text("b (integer): The second.")
        talk.type("3")
        talk.await_text("→ add(a=5, b=3)")
        talk.await_text("\n8\n> ")
        talk.type("half a li", end="")
        talk.await_text("half a li")
        write("shout", manifest_of("shout"), "def shout(text):\n    return text.upper() + '!'\n")
        talk.type(CTRL_C, end="")
        talk.await_text("leaves\n> ")
        talk.type("/reload")  # the notice waits for the end of a line
        talk.await_text("tools: added shout\n> ")
        talk.type('shout text="hear me"')
        talk.await_text("HEAR ME!\n> ")
        talk.type("/tools")
        talk.await_text("shout  ")
        talk.await_text("> ")
        talk.type("/save talk.json")
        talk.await_text("messages saved in talk.json\n> ")
        talk.type(f"{UP}{UP}{UP}")
        talk.await_text("HEAR ME!\n> ")
        talk.type("/quit")
        assert talk.await_end() == 0
        assert "\x1b[2m→ add(a=5, b=3)\x1b[0m" in talk.sent
    roles = [each["role"] for each in json.loads((tmp_path / "talk.json").read_text())]
    assert roles[:2] == ["user", "assistant"]
    history = tmp_path / "state" / "sovl-tools" / "chat_history"
    assert history.read_text().splitlines()[:3] == ["hello", "sum up", "five"]
    assert history.stat().st_mode & 0o077 == 0


@pytest.mark.usefixtures("add")
def test_what_was_typed_in_the_last_session_comes_back(talking: Talking) -> None:
    with talking() as talk:
        started(talk).type("add a=20 b=22")
        talk.await_text("42\n> ")
        talk.type(CTRL_D, end="")
        assert talk.await_end() == 0
    with talking() as talk:
        started(talk).type(UP)
        talk.await_text("\n42")
        talk.await_text("> ")
        for advice in ("Ctrl-C again, or Ctrl-D, leaves\n> ", ""):
            talk.type("half", end="")
            talk.await_text("half")
            talk.type(CTRL_C, end="")
            talk.await_text(advice)
        assert talk.await_end() == 0


@pytest.mark.usefixtures("add")
def test_commands_and_tools_are_completed(talking: Talking) -> None:
    with talking() as talk:
        started(talk).type("/hel\t")
        talk.await_text("/quit ")
        talk.await_text("> ")
        talk.type("ad\t a=20 b=22")
        talk.await_text("\n42\n> ")
        talk.type(CTRL_D, end="")
        assert talk.await_end() == 0


def test_a_destructive_tool_asks_on_a_terminal(write: Write, talking: Talking) -> None:
    write("echo", manifest_of("echo", annotations={"destructive": True}))
    with talking(NO_COLOR="1") as talk:
        started(talk).type("echo text=one")
        talk.await_text('call echo(text="one")? [y/N]')
        talk.type("")
        talk.await_text("the user did not approve of this call")
        talk.await_text("\n> ")
        talk.type("echo text=two")
        talk.await_text("[y/N]")
        talk.type("y")
        talk.await_text("\ntwo\n> ")
        talk.type("echo text=three")
        talk.await_text("[y/N]")
        talk.type("yes", end="")
        talk.await_text("yes")
        talk.type(CTRL_C, end="")
        talk.await_text("stopped\n> ")
        talk.type("echo text=four")
        talk.await_text("[y/N]")
        talk.type(CTRL_D, end="")
        talk.await_text("did not approve")
        talk.await_text("\n> ")
        talk.type(UP)
        talk.await_text('call echo(text="four")? [y/N]')
        talk.type("yes")
        talk.await_text("four\n> ")
        talk.type("/quit")
        assert talk.await_end() == 0
        assert "\x1b[2m" not in talk.sent
