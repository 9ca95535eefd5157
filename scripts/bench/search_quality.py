"""How well searches find the right tool, and how often they offer a wrong one.

The questions are from ``bfcl-eval`` (Apache 2.0), which is installed into its own virtual
environment, ``.bench/``. Half of them are for tuning, the other half is reported; the
checksum of a question decides. FastMCP's and pydantic-ai's scorers are measured where they are
installed, ours with meaning where the extra ``semantic`` is.

    python scripts/bench/search_quality.py [--tuning]
"""

from __future__ import annotations

import json
import subprocess
import sys
import venv
from ast import Call, Name, parse, walk
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from math import log2
from pathlib import Path
from statistics import fmean
from types import SimpleNamespace
from typing import Any, NamedTuple, TypeAlias
from zlib import crc32

from sovl_tools.model.definition import ToolDefinition
from sovl_tools.search.ranking import SearchIndex
from sovl_tools.search.vectors import Vectors, vectors

PLACE = Path(__file__).resolve().parents[2] / ".bench"
PACKAGE = "bfcl-eval==2026.3.23"
DEPTH = 10
SMALL_TALK = """\
Hello there!|Good morning, how are you?|What's up?|Thanks a lot, you were very helpful|Nice to
 meet you|Are you a robot?|Tell me a joke|I'm bored|You are funny|Goodbye, see you tomorrow|Never
 mind|That was great, thank you|I feel a bit sad today|Who made you?|Do you like music?|What do
 you think about life?|My dog is cute|I had pizza for dinner|It's my birthday today|Sorry, I made
 a mistake|Wait a second please|Can you help me?|I don't understand|Sounds good to me|That's
 wrong|You already said that|What can you do?|I love this song|Happy new year!|Have a nice
 weekend""".replace("\n", "").split("|")

Finds: TypeAlias = Callable[[str], Sequence[str]]
Scorer: TypeAlias = Callable[[Sequence[ToolDefinition]], Finds]


class Question(NamedTuple):
    """A question, the names of the right tools, and BFCL's tools for this question."""

    text: str
    right: frozenset[str]
    own: tuple[ToolDefinition, ...] = ()

    @property
    def is_for_tuning(self) -> bool:
        """Whether its measures aren't reported."""
        return crc32(self.text.encode()) % 2 == 0


class Set(NamedTuple):
    """Questions to all tools of a set."""

    name: str
    tools: Sequence[ToolDefinition]
    questions: Sequence[Question]


def data() -> Path:
    """Return the directory of the questions, installed if need be."""
    found = [*PLACE.glob("lib/*/site-packages/bfcl_eval/data")]
    if not found:
        venv.create(PLACE, with_pip=True)
        install = ["-m", "pip", "install", "--quiet", "--no-deps", PACKAGE]
        subprocess.run([PLACE / "bin" / "python", *install], check=True)
        found = [*PLACE.glob("lib/*/site-packages/bfcl_eval/data")]
    return found[0]


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines() if line.strip()]


def schema(node: Any) -> Any:
    """Return BFCL's schema as a JSON Schema: its types have names of Python and Java."""
    if isinstance(node, list):
        return [*map(schema, node)]
    if not isinstance(node, dict):
        return node
    kinds = {"dict": "object", "float": "number", "tuple": "array", "any": "string"}
    made = {key: schema(value) for key, value in node.items()}
    if isinstance(kind := node.get("type"), str):
        known = {"object", "number", "array", "string", "integer", "boolean"}
        kind = kinds.get(kind, kind)
        made["type"] = kind if kind in known else "string"
    return made


def tools_of(functions: Iterable[dict[str, Any]]) -> tuple[ToolDefinition, ...]:
    """Return tools of BFCL's functions, the first of each name."""
    first: dict[str, dict[str, Any]] = {}
    for each in functions:
        first.setdefault(each["name"], each)
    return tuple(
        ToolDefinition(name, each["description"], schema(each["parameters"]), print)
        for name, each in first.items()
    )


def asked(row: Mapping[str, Any], turn: int = 0) -> str:
    return "\n".join(each["content"] for each in row["question"][turn] if each["role"] == "user")


def questions(place: Path, kind: str) -> Iterator[Question]:
    """Yield the questions of one file; the right tools are in its answers."""
    answers = place / "possible_answer" / f"BFCL_v4_{kind}.json"
    right = {each["id"]: each["ground_truth"] for each in rows(answers)} if answers.exists() else {}
    for row in rows(place / f"BFCL_v4_{kind}.json"):
        names = frozenset(name for call in right.get(row["id"], ()) for name in call)
        yield Question(asked(row), names, tools_of(row["function"]))


def pool(name: str, place: Path, *kinds: str) -> Set:
    """Return questions to all tools of some files together."""
    found = [each for kind in kinds for each in questions(place, kind)]
    tools = {tool.name: tool for each in found for tool in reversed(each.own)}
    return Set(name, [*tools.values()], found)


def conversations(place: Path) -> Set:
    """Return each turn of the conversations about several APIs, without the turns of no call."""
    documents = sorted((place / "multi_turn_func_doc").glob("*.json"))
    tools = tools_of(each for document in documents for each in rows(document))
    calls = {
        each["id"]: each["ground_truth"]
        for each in rows(place / "possible_answer" / "BFCL_v4_multi_turn_base.json")
    }
    found = []
    for row in rows(place / "BFCL_v4_multi_turn_base.json"):
        for turn, lines in enumerate(calls[row["id"]]):
            nodes = [node for line in lines for node in walk(parse(line))]
            names = {n.func.id for n in nodes if isinstance(n, Call) and isinstance(n.func, Name)}
            if names:
                found.append(Question(asked(row, turn), frozenset(names)))
    return Set("turns", tools, found)


def ours(tools: Sequence[ToolDefinition], known: Vectors | None = None) -> Finds:
    index = SearchIndex(tools, vectors=known)
    return lambda query: [each.tool for each in index.search(query, limit=DEPTH)]


def abstaining(tools: Sequence[ToolDefinition], known: Vectors | None = None) -> Finds:
    """Return the search of ``suggest``, which omits bad matches."""
    index = SearchIndex(tools, vectors=known)
    return lambda query: [
        each.tool for each in index.search(query, limit=DEPTH, least=index.enough)
    ]


def fastmcp(tools: Sequence[ToolDefinition]) -> Finds:
    """Return FastMCP's BM25 over the text that it makes of a tool."""
    module = import_module("fastmcp.server.transforms.search.bm25")
    index, text_of = (
        getattr(module, f"_{name}") for name in ("BM25Index", "extract_searchable_text")
    )
    found = index()
    found.build([text_of(plain(tool)) for tool in tools])
    return lambda query: [tools[each].name for each in found.query(query, DEPTH)]


def pydantic_ai(tools: Sequence[ToolDefinition]) -> Finds:
    """Return pydantic-ai's count of common words."""
    find = import_module("pydantic_ai.toolsets._tool_search").keywords_search_fn
    known = [plain(tool) for tool in tools]
    return lambda query: find(None, [query], known)[:DEPTH]


def plain(tool: ToolDefinition) -> SimpleNamespace:
    """Return what others' scorers read of a tool."""
    return SimpleNamespace(name=tool.name, description=tool.description, parameters=tool.parameters)


def measured(finds: Finds, chosen: Sequence[Question]) -> list[float]:
    """Return NDCG@10 and recall@1, 5 and 10, in percent."""
    found = []
    for each in chosen:
        hits = [name in each.right for name in finds(each.text)]
        gain = sum(hit / log2(rank + 2) for rank, hit in enumerate(hits))
        ideal = sum(1 / log2(rank + 2) for rank in range(min(DEPTH, len(each.right))))
        recall = (sum(hits[:depth]) / len(each.right) for depth in (1, 5, 10))
        found.append((gain / ideal, *recall))
    return [100 * fmean(column) for column in zip(*found, strict=True)]


def sets(place: Path) -> list[Set]:
    python = ("simple_python", "multiple", "parallel", "parallel_multiple")
    live = ("live_simple", "live_multiple", "live_parallel", "live_parallel_multiple")
    found = [
        pool("python", place, *python),
        pool("live", place, *live),
        pool("java, js", place, "simple_java", "simple_javascript"),
        conversations(place),
    ]
    tools = {tool.name: tool for each in reversed(found) for tool in each.tools}
    asked_all = [question for each in found for question in each.questions]
    return [*found, Set("all of them", [*tools.values()], asked_all)]


def false_offers(scorer: Scorer, known: Sequence[Set], chosen: Sequence[Question]) -> list[float]:
    """Return the share of false offers, in percent: for small talk, and for irrelevant tools.

    BFCL has questions with irrelevant tools; only these are searched.
    """
    talk = [bool(finds(text)) for finds in (scorer(e.tools) for e in known) for text in SMALL_TALK]
    return [100 * fmean(talk), 100 * fmean(bool(scorer(each.own)(each.text)) for each in chosen)]


def row(label: str, name: str, *numbers: float) -> None:
    print(f"{label:28} {name:12}", *(f"{number:7.1f}" for number in numbers), flush=True)


def main(*, is_tuning: bool) -> None:
    """Print a table of each scorer's measures for each set, and one of false offers."""
    place = data()
    scorers: dict[str, Scorer] = {"words": ours, "words, abstaining": abstaining}
    if (known := vectors()) is not None:
        scorers["meaning"] = partial(ours, known=known)
        scorers["meaning, abstaining"] = partial(abstaining, known=known)
    if find_spec("fastmcp"):
        scorers["FastMCP"] = fastmcp
    if find_spec("pydantic_ai"):
        scorers["pydantic-ai"] = pydantic_ai
    found = sets(place)
    for name, tools, every in found:
        print(f"{name}: {len(tools)} tools, {len(every)} questions")
    print(f"{'':42} NDCG@10     @1      @5     @10")
    for label, scorer in scorers.items():
        means = []
        for name, tools, every in found:
            chosen = [each for each in every if each.is_for_tuning is is_tuning and each.right]
            means.append(measured(scorer(tools), chosen))
            row(label, name, *means[-1])
        row(label, "mean", *map(fmean, zip(*means, strict=True)))
    irrelevant = [
        each
        for kind in ("irrelevance", "live_irrelevance")
        for each in questions(place, kind)
        if each.is_for_tuning is is_tuning
    ]
    print(f"{'false offers':40} small talk  irrelevant")
    for label, scorer in scorers.items():
        row(label, "", *false_offers(scorer, found, irrelevant))


if __name__ == "__main__":
    main(is_tuning="--tuning" in sys.argv)
