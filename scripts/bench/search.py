"""What searching a thousand tools costs: making the index, changing it, and asking; and phrases.

The floor of a query is a linear scan: counting each of its words, as ``str.count`` does, in one
text a tool that is lower case already. The floor of making the index is making those texts.
CPU time counts, and the least of all rounds.

    python scripts/bench/search.py [ROUNDS]
"""

from __future__ import annotations

import gc
import random
import sys
from collections.abc import Callable
from functools import partial
from itertools import accumulate
from time import process_time
from typing import TypeAlias

from measuring import show

from sovl_tools.model.definition import ToolDefinition
from sovl_tools.search.phrases import PhraseIndex
from sovl_tools.search.ranking import SearchIndex, texts
from sovl_tools.search.vectors import vectors

TOOLS, WORDS, NAMES, SEED = 1000, 4000, 400, 7
PHRASES = 100  # of a tool

Work: TypeAlias = Callable[[], object]


def vocabulary(dice: random.Random) -> list[str]:
    """Return words that nobody uses, from two to four syllables."""
    syllables = [first + last for first in "bdfgklmnprstvw" for last in "aeiou"]
    return ["".join(dice.choices(syllables, k=dice.randint(2, 4))) for _ in range(WORDS)]


class Author:
    """Makes tools whose words are as common and as rare as those of a natural language."""

    def __init__(self) -> None:
        self._dice = random.Random(SEED)
        self.words = vocabulary(self._dice)
        self._weights = list(accumulate(1 / rank for rank in range(1, WORDS + 1)))
        self._names = ["_".join(self.text(2).split()) for _ in range(NAMES)]

    def text(self, count: int) -> str:
        return " ".join(self._dice.choices(self.words, cum_weights=self._weights, k=count))

    def tool(self, number: int) -> ToolDefinition:
        """Return a tool with six parameters, phrases, tags and an example."""
        properties = {
            name: {"type": "string", "description": self.text(8)}
            for name in self._dice.sample(self._names, 6)
        }
        return ToolDefinition(
            "_".join([*self.text(2).split(), str(number)]),
            self.text(25),
            {"type": "object", "properties": properties},
            print,
            tags=(self.text(1), self.text(1)),
            activation_phrases=(self.text(3), self.text(3)),
            examples=({"input": {"text": self.text(5)}},),
        )

    def phrased(self, number: int) -> ToolDefinition:
        """Return a tool with phrases of a common word and two others, half of them with a slot."""
        schema = {"type": "object", "properties": {"city": {"type": "string"}}}
        phrases = [
            f"{self.text(1)} {each} {'{city} ' * (index % 2)}{other}"
            for index in range(PHRASES)
            for each, other in [self._dice.sample(self.words, 2)]
        ]
        name = f"tool_{number}"
        return ToolDefinition(name, "", schema, print, activation_phrases=tuple(phrases))


def least(work: Work, *, repeat: int, rounds: int) -> float:
    """Return the CPU time of a call in milliseconds."""
    found = []
    for _ in range(rounds):
        gc.collect()
        started = process_time()
        for _ in range(repeat):
            work()
        found.append(1000 * (process_time() - started) / repeat)
    return min(found)


def joined(tools: list[ToolDefinition]) -> list[str]:
    return [
        " ".join(text for field in texts(tool).values() for text in field).lower() for tool in tools
    ]


def scan(flat: list[str], words: list[str]) -> list[int]:
    """Return the ten texts that have the words most often."""
    counts = [sum(map(text.count, words)) for text in flat]
    return sorted(range(len(flat)), key=counts.__getitem__, reverse=True)[:10]


def main(rounds: int) -> None:
    """Measure making the index, and queries of several lengths."""
    author = Author()
    tools = [author.tool(number) for number in range(TOOLS)]
    made = least(partial(SearchIndex, tools), repeat=1, rounds=rounds)
    floor = least(partial(joined, tools), repeat=1, rounds=rounds)
    show(f"an index of {TOOLS} tools", made / floor, "making the texts", None, f"{made:.0f} ms")
    index, flat = SearchIndex(tools), joined(tools)
    queries = {
        "a name": tools[TOOLS // 2].name,
        "five words": author.text(5),
        "a chat of thirty words": author.text(30),
    }
    for label, query in queries.items():
        floor = least(partial(scan, flat, query.split()), repeat=5, rounds=rounds)
        took = least(partial(index.search, query), repeat=50, rounds=rounds)
        show(f"a search for {label}", took / floor, "str.count", None, f"{took:.2f} ms")
    if (known := vectors()) is not None:
        index = SearchIndex(tools, vectors=known)
        took = least(partial(index.search, queries["five words"]), repeat=50, rounds=rounds)
        floor = least(partial(scan, flat, queries["five words"].split()), repeat=5, rounds=rounds)
        show("... with meaning", took / floor, "str.count", None, f"{took:.2f} ms, of 1")
    phrased = PhraseIndex(author.phrased(number) for number in range(TOOLS))
    text = author.text(60)[:200]
    took = least(partial(phrased.match, text), repeat=200, rounds=rounds)
    floor = least(partial(str.split, text), repeat=2000, rounds=rounds)
    label = f"200 characters, {TOOLS * PHRASES:,} phrases"
    show(label, took / floor, "str.split", None, f"{1000 * took:.0f} µs, of 100")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
