"""``sovl-tools test --routes``: do strings lead to the tools that they are meant for?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Run, Write, manifest_of
from tests.tables import check_each

ROUTES = [
    {"text": "will it rain in Oslo", "tool": "forecast"},
    {"text": "an umbrella against bad weather", "tool": "umbrella"},
    {"text": "weather", "tool": "umbrella"},
    {"text": "kangaroos", "tool": "umbrella"},
    {"text": "will it rain under my umbrella shop", "tool": "umbrella"},
    {"text": "hello", "tool": None},
    {"text": "so will it rain?", "tool": None},
]


EXPECTED = """\
3: "weather" is meant for 'umbrella', which comes as number 2; 'forecast' comes first, by 'weather'
4: "kangaroos" is meant for 'umbrella', which is not found; no tool is found
5: "will it rain under my umbrella shop" is meant for 'umbrella', which comes as number 2; 'forecast' comes first, by 'will it rain'
7: "so will it rain?" is meant for no tool; match finds 'forecast'
recall     @1    @3    @5   @10  NDCG@10
match    0.20  0.40  0.40  0.40     0.33
search   0.60  0.80  0.80  0.80     0.73
both     0.40  0.80  0.80  0.80     0.65
suggest  0.40  0.80  0.80  0.80     0.65
false offers: 1 by match, 1 by search, 1 by suggest of 2 texts for no tool
7 texts, 5 of them for a tool
"""  # noqa: E501 - as it is printed


@pytest.fixture(autouse=True)
def tools(write: Write) -> None:
    keys: dict[str, Any] = {"tags": ["weather"], "activation_phrases": ["will it rain"]}
    write("forecast", manifest_of("forecast", description="Tell what comes.", **keys))
    keys = {"description": "Find one for bad weather.", "activation_phrases": ["umbrella shop"]}
    write("umbrella", manifest_of("umbrella", **keys))


@pytest.fixture
def routes(tmp_path: Path) -> Any:
    def file(*documents: Any) -> str:
        lines = "".join(f"{json.dumps(each)}\n" for each in documents or ROUTES)
        (tmp_path / "routes.jsonl").write_text(lines)
        return "routes.jsonl"

    return file


def test_what_goes_wrong_is_told_by_line(run: Run, routes: Any) -> None:
    done = run("test", "--routes", routes())
    assert (done.code, done.err) == (0, "")
    assert done.out.replace("routes.jsonl:", "") == EXPECTED


def test_json_has_it_all(run: Run, routes: Any) -> None:
    found = json.loads(run("test", "--routes", routes(), "--format", "json").out)
    assert found["summary"]["recall"]["both"] == {"1": 0.4, "3": 0.8, "5": 0.8, "10": 0.8}
    assert round(found["summary"]["ndcg"]["both"], 2) == 0.65
    assert found["summary"]["false_offers"] == {"match": 1, "search": 1, "suggest": 1}
    assert found["confusions"] == [
        {
            "meant": "umbrella",
            "first": "forecast",
            "count": 2,
            "words": {"weather": 1, "will it rain": 1},
        }
    ]
    assert [each["line"] for each in found["missed"]] == [3, 4, 5]
    assert found["missed"][1]["ranks"] == dict.fromkeys(("match", "search", "both", "suggest"))
    assert [each["astray"] for each in found["missed"]] == [["weather"], [], ["will it rain"]]
    assert [each["text"] for each in found["false_offers"]] == ["so will it rain?"]
    [collision] = found["collisions"]
    assert collision["phrases"] == {"forecast": "will it rain", "umbrella": "umbrella shop"}


@check_each(
    ("options", "code"),
    [
        ((), 0),
        (("--at-least", "0.4"), 0),
        (("--at-least", "0.41"), 1),
        (("--at-least", "1.1"), 2),
    ],
)
def test_the_exit_code_says_whether_it_is_enough(
    options: tuple[str, ...], code: int, run: Run, routes: Any
) -> None:
    assert run("test", "--routes", routes(), *options).code == code


def test_tools_that_are_not_there_are_left_out_and_broken_ones_missed(
    run: Run, routes: Any, write: Write
) -> None:
    write("later", manifest_of("later", requires={"env": ["NOT_THERE"]}))
    write("broken", code="import not_there\n\n\ndef broken(text): return text\n")
    file = routes({"text": "a", "tool": "later"}, {"text": "b", "tool": "broken"})
    done = run("test", "--routes", file, "--at-least", "1")
    assert done.code == 1
    assert "routes.jsonl:1: omitted: the environment variable NOT_THERE is not set" in done.out
    assert "'broken', which is not found" in done.out
    assert done.out.endswith("1 text, 1 of them for a tool\n")


@check_each(
    ("text", "words"),
    [
        ("", "routes.jsonl: there's no string in it"),
        ('{"text": "a"}', "routes.jsonl:1: tool: is required"),
        (
            '\n{"text": 1, "tool": null}',
            "routes.jsonl:2: text: must be a string, not the integer 1",
        ),
        ('{"text": "a", "tools": null}', "tool: is required"),
        ("{", "it isn't JSON"),
    ],
)
def test_a_file_that_is_wrong_is_misuse(text: str, words: str, run: Run, tmp_path: Path) -> None:
    (tmp_path / "routes.jsonl").write_text(text)
    done = run("test", "--routes", "routes.jsonl")
    assert done.code == 2
    assert words in done.err
    assert len(done.err.splitlines()) == 1
