"""An agent that draws a map: tools as methods, choices that are known only at run time, a second
agent for what is difficult, and handlers of the application's own.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest

from sovl_tools import Agent, tool
from sovl_tools.testing import Request, ScriptedServer, calls, says
from tests.agent.conversations import PROVIDERS, client_of

ANALYST = "You answer questions about places."
PARCELS = {"parcels": 1200, "roads": 80}


class Table(NamedTuple):
    name: str


class Engine:
    """A database with tables, which can come and go."""

    def __init__(self) -> None:
        self.tables = [Table(name) for name in PARCELS]


class Map:
    """What the user checks: layers by their ids."""

    def __init__(self) -> None:
        self.layers: dict[str, dict[str, Any]] = {}

    def add(self, layer_id: str, **look: Any) -> None:
        self.layers[layer_id] = look

    def remove(self, layer_id: str) -> bool:
        return self.layers.pop(layer_id, None) is not None


class Notes:
    """Finds what is known about a question."""

    async def query(self, text: str, k: int) -> list[dict[str, str]]:
        return [{"markdown": f"# {number} about {text}"} for number in range(k)]


def parsed_filters(arguments: dict[str, Any]) -> dict[str, Any]:
    """Take filters as models write them, ``owner=city``, apart."""
    pairs = [each.split("=") for each in arguments.get("filters", ())]
    return {**arguments, "filters": [{"field": field, "value": value} for field, value in pairs]}


class MapAgent(Agent):
    def __init__(  # noqa: PLR0913, PLR0917 - as such agents are written elsewhere
        self,
        client: Any,
        model: str,
        engine: Engine,
        board: Map,
        analyst: Agent,
        socket_emit: Any = None,
    ) -> None:
        super().__init__(client, model, socket_emit)
        self.engine = engine
        self.board = board
        self.analyst = analyst
        self.registry: tuple[Table, ...] | None = None

    async def _system_messages(self) -> list[dict[str, str]]:
        self.registry = tuple(self.engine.tables)
        found = await Notes().query(self.messages[-1]["content"], k=2)
        return [{"role": "system", "content": "\n\n".join(each["markdown"] for each in found)}]

    def _finalize_response(self, text: str) -> str:
        return text.strip()

    @tool(
        description="Add a layer to the map, of all parcels or of some.",
        params={
            "table": {
                "type": "string",
                "enum": lambda self: [each.name for each in self.registry],
            },
            "layer_id": {"type": "string"},
            "filters": {"type": "array", "items": {"type": "string"}},
            "color": {"type": "string"},
        },
        required=["table", "layer_id"],
        preprocess=parsed_filters,
        postprocess=lambda count: f"{count} parcels found",
    )
    def add_map_layer(
        self, table: str, layer_id: str, filters: list[Any] | None = None, color: str = "blue"
    ) -> int:
        self.board.add(layer_id, table=table, filters=filters, color=color)
        return PARCELS.get(table, 7) // (1 + len(filters or ()))

    @tool(
        name="remove_map_layer",
        description="Remove a layer by its ID.",
        params={"layer_id": {"type": "string"}},
        required=["layer_id"],
    )
    def remove(self, layer_id: str) -> bool:
        return self.board.remove(layer_id)

    @tool(
        description="Analyse what is on the map.",
        params={"prompt": {"type": "string"}},
        required=["prompt"],
    )
    async def run_analysis(self, prompt: str) -> str:
        self.analyst.messages.clear()
        return await self.analyst.chat(prompt)


class Analyst(Agent):
    @tool
    async def area_of(self, place: str) -> int:
        """Return the area of a place in hectares."""
        return 100 * len(place)


class Room(NamedTuple):
    agent: MapAgent
    server: ScriptedServer
    emitted: list[Any]
    layers: dict[str, dict[str, Any]]

    def results(self) -> list[str]:
        return [each["content"] for each in self.agent.messages if each["role"] == "tool"]


@contextmanager
def room(provider: str, *script: Any, analyst: Any = None) -> Iterator[Room]:
    mapping, analysing = list(script), list(analyst or ())

    def reply(request: Request) -> Any:
        return (analysing if ANALYST in request.content.decode() else mapping).pop(0)

    with ScriptedServer(reply) as server:
        client = client_of(provider, server, is_async=False)
        board, emitted = Map(), list[Any]()

        async def emit(event: dict[str, Any]) -> None:
            emitted.append(event)

        expert = Analyst(client, "m", system=ANALYST, provider=provider)
        # The server is none of OpenAI's, so its client would be asked for Chat Completions.
        only = SimpleNamespace(responses=client.responses) if "responses" in provider else client
        agent = MapAgent(only, "m", Engine(), board, expert, socket_emit=emit)
        yield Room(agent, server, emitted, board.layers)
        client.close()
    assert mapping == analysing == []


each = pytest.mark.parametrize("provider", PROVIDERS)


@each
async def test_layers_are_added_and_removed(provider: str) -> None:
    add = {"table": "parcels", "layer_id": "mine", "filters": ["owner=city"], "color": "red"}
    with room(
        provider,
        calls(("add_map_layer", add), ("add_map_layer", {"table": "roads", "layer_id": "ways"})),
        says("  Both are there. \n"),
        calls(("remove_map_layer", {"layer_id": "mine"})),
        says("It is gone."),
    ) as this:
        assert await this.agent.chat("Show what the city owns, and roads") == "Both are there."
        assert this.results() == ["600 parcels found", "80 parcels found"]
        assert this.layers == {
            "mine": {
                "table": "parcels",
                "filters": [{"field": "owner", "value": "city"}],
                "color": "red",
            },
            "ways": {"table": "roads", "filters": [], "color": "blue"},
        }
        assert await this.agent.chat("Remove mine") == "It is gone."
        assert this.results()[-1] == "true"
        assert [*this.layers] == ["ways"]
        assert [each["message"] for each in this.emitted] == ["Both are there.", "It is gone."]


@each
async def test_the_choice_of_tables_follows_the_database(provider: str) -> None:
    with room(
        provider,
        says("Hello."),
        calls(("add_map_layer", {"table": "rivers", "layer_id": "a"})),
        says("There isn't one."),
        calls(("add_map_layer", {"table": "rivers", "layer_id": "a"})),
        says("There."),
    ) as this:
        await this.agent.chat("Hello")
        await this.agent.chat("Show rivers")
        assert '"parcels", "roads"' in this.results()[0]
        assert this.layers == {}
        this.agent.engine.tables.append(Table("rivers"))
        await this.agent.chat("Show rivers now")
        assert this.results()[1] == "7 parcels found"
        assert [*this.layers] == ["a"]
        sent = [request.content.decode() for request in this.server.requests]
        assert '"enum":["parcels","roads"]' in sent[0]
        assert '"enum":["parcels","roads","rivers"]' in sent[-1]


@each
async def test_an_analysis_is_handed_to_a_second_agent(provider: str) -> None:
    with room(
        provider,
        calls(
            ("add_map_layer", {"table": "parcels", "layer_id": "park"}),
            ("run_analysis", {"prompt": "How large is the park?"}),
        ),
        says("400 hectares, as you see."),
        analyst=[calls(("area_of", {"place": "park"})), says("It has 400 hectares.")],
    ) as this:
        assert await this.agent.chat("Show the park and its size") == "400 hectares, as you see."
        assert this.results() == ["1200 parcels found", "It has 400 hectares."]
        assert [*this.layers] == ["park"]
        assert [each["type"] for each in this.emitted] == ["ai_response"]
