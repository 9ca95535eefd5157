from __future__ import annotations

import json

import pytest

from tests.conftest import Run, Write, manifest_of


@pytest.fixture
def two(write: Write) -> None:
    write("forecast", manifest_of("forecast", description="Tell the weather.", tags=["weather"]))
    write("umbrella", manifest_of("umbrella", description="Open it in bad weather."))


@pytest.mark.usefixtures("two")
def test_search_prints_what_the_contract_says(run: Run) -> None:
    done = run("search", "weather", "--format", "json")
    first, second = json.loads(done.out)
    assert (first["tool"], second["tool"]) == ("forecast", "umbrella")
    assert 1 > first["score"] > second["score"] > 0
    assert first["words"] == {"weather": ["tags", "description"]}


@pytest.mark.usefixtures("two")
def test_search_says_which_words_were_found_where(run: Run) -> None:
    lines = run("search", "bad", "weather?").out.splitlines()
    assert [line.partition(":")[2] for line in lines] == [
        " 'bad' in description; 'weather' in description",
        " 'weather' in tags, description",
    ]
    assert lines[0].startswith("umbrella  score 0.")
    assert run("search", "bad weather?").out.splitlines() == lines


@pytest.mark.usefixtures("two")
def test_a_search_that_finds_nothing_says_so(run: Run) -> None:
    done = run("search", "kangaroo")
    assert (done.code, done.out) == (0, "no tool has a word of the query\n")
    assert run("search", "kangaroo", "--format", "json").out == "[]\n"
