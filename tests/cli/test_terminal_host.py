"""What a tool asks and tells at a terminal, and what it learns without one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sovl_tools import Answer, Approval, ApprovalRequest, Question
from sovl_tools.cli.terminal_host import approval, fill_form
from tests.cli.sessions import CTRL_C, CTRL_D, session
from tests.conftest import Run, Write, manifest_of
from tests.tables import check_each

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "reason": {"type": "string", "title": "Reason", "minLength": 3},
        "amount": {"type": "number", "default": 1.5},
        "count": {"type": "integer", "maximum": 9},
        "sure": {"type": "boolean"},
        "speed": {"enum": ["slow", "fast"]},
        "size": {"oneOf": [{"const": "s", "title": "Small"}, {"const": "l", "title": "Large"}]},
        "tags": {"type": "array", "items": {"enum": ["a", "b"]}},
    },
    "required": ["reason", "sure"],
}


def form(*names: str) -> dict[str, Any]:
    properties = {name: SCHEMA["properties"][name] for name in names}
    required = [name for name in SCHEMA["required"] if name in names]
    return {"type": "object", "properties": properties, "required": required}


def typed(*lines: str) -> Any:
    """Return a prompt at which the lines are typed, and Ctrl-D after them."""
    left: Iterator[str] = iter(lines)

    def prompt(_: str) -> str:
        for line in left:
            return line
        raise EOFError

    return prompt


@check_each(
    ("names", "lines", "expected"),
    [
        (["reason"], ["late"], {"reason": "late"}),
        (["reason"], ["", "no", "12345"], {"reason": "12345"}),
        (["amount"], [""], {"amount": 1.5}),
        (["amount"], ["x", "2"], {"amount": 2}),
        (["count"], ["10", "1.5", "9"], {"count": 9}),
        (["sure"], ["maybe", "", "y"], {"sure": True}),
        (["speed"], ["quick", "2"], {"speed": "fast"}),
        (["size"], ["Large"], {"size": "l"}),
        (["tags"], ["a, c", "a, b"], {"tags": ["a", "b"]}),
        (["reason", "count"], ["late", "3"], {"reason": "late", "count": 3}),
        (["reason"], [], None),
    ],
)
def test_a_form_takes_valid_values_only(
    names: list[str], lines: list[str], expected: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = fill_form(Question("refund", "Why?", form(*names)), typed(*lines))
    assert answer == (Answer("cancel") if expected is None else Answer("accept", expected))
    assert capsys.readouterr().err.startswith("refund: Why?\n")


@check_each(
    ("line", "action"), [("y", "accept"), ("YES", "accept"), ("", "decline"), ("n", "decline")]
)
@check_each("question", [Question("t", "Sure?", {}), Question("t", "Go", {}, url="https://x/")])
def test_consent_is_a_clear_yes(question: Question, line: str, action: str) -> None:
    assert fill_form(question, typed(line)).action == action


@check_each(
    ("lines", "expected"),
    [
        (["y"], Approval(approved=True)),
        (["always"], Approval(approved=True, remember=True)),
        (["n"], Approval(approved=False)),
        ([], Approval(approved=False)),
    ],
)
def test_approval_is_a_clear_yes(lines: list[str], expected: Approval) -> None:
    assert approval(ApprovalRequest("zap", {"name": "x"}), typed(*lines)) == expected


REFUND = """
from sovl_tools import ToolContext


async def refund(order: int, context: ToolContext) -> dict:
    context.report_progress(1, 2, "looking")
    context.log("info", "asking")
    schema = {"type": "object", "properties": {"reason": {"type": "string"}},
              "required": ["reason"]}
    answer = await context.elicit(f"Why is {order} refunded?", schema)
    return {"action": answer.action, "content": answer.content}
"""
PARAMETERS = {
    "type": "object",
    "properties": {"order": {"type": "integer", "description": "The order."}},
    "required": ["order"],
}


@pytest.fixture
def _refund(write: Write) -> None:
    annotations = {"destructive": True}
    write("refund", manifest_of("refund", parameters=PARAMETERS, annotations=annotations), REFUND)


@pytest.mark.usefixtures("_refund")
def test_a_call_asks_at_the_terminal(tmp_path: Path) -> None:
    with session(tmp_path, "call", "refund", "order=3", NO_COLOR="1") as talk:
        talk.await_text("refund: 1 of 2 (50%): looking")
        talk.await_text("refund: info: asking")
        talk.await_text("refund: Why is 3 refunded?")
        talk.await_text("reason (string): ")
        talk.type("broken")
        talk.await_text('"reason": "broken"')
        assert talk.await_end() == 0
    (tmp_path / "sovl-tools.toml").write_text('approval = "destructive"\n')
    with session(tmp_path, "call", "refund", "order=3") as talk:
        talk.await_text("call refund(order=3)? [y/N], or always ")
        talk.type("y")
        talk.await_text("reason (string): ")
        talk.type(CTRL_D, end="")
        talk.await_text('"cancel"')
        assert talk.await_end() == 0
    with session(tmp_path, "call", "refund", "order=3") as talk:
        talk.await_text("[y/N]")
        talk.type(CTRL_C, end="")
        assert talk.await_end() == 1


@pytest.mark.usefixtures("_refund")
def test_a_call_in_a_pipe_says_that_nobody_can_be_asked(run: Run, tmp_path: Path) -> None:
    done = run("call", "refund", "order=3")
    assert done.code == 1
    words = "the user can't be asked, because the input isn't a terminal"
    assert done.err.splitlines() == [
        "refund: 1 of 2 (50%): looking",
        "refund: info: asking",
        "refund: Why is 3 refunded?",
        words,
    ]
    (tmp_path / "sovl-tools.toml").write_text('approval = ["ref*"]\n')
    done = run("call", "refund", "order=3")
    assert done.code == 1
    assert done.err == f"the user did not approve of this call: {words}\n"


def test_a_picture_is_saved(write: Write, run: Run, tmp_path: Path) -> None:
    source = "from sovl_tools import Image\n\ndef draw(count):\n"
    source += (
        "    return [Image(b'\\x89PNG' + bytes([each]), 'image/png') for each in range(count)]\n"
    )
    parameters = {
        "type": "object",
        "properties": {"count": {"type": "integer", "description": "How many."}},
        "required": ["count"],
    }
    write("draw", manifest_of("draw", parameters=parameters), source)
    assert run("call", "draw", "count=2", "-o", "a.png").out == "a.png\na-2.png\n"
    assert (tmp_path / "a-2.png").read_bytes() == b"\x89PNG\x01"
    assert run("call", "draw", "count=0", "-o", "b.json").out == ""
    assert (tmp_path / "b.json").read_text() == "[]\n"
    assert "no/a.png" in run("call", "draw", "count=1", "-o", "no/a.png").err
