"""The tools and procedures that the tests of the page and its pictures show."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from tests.conftest import REPOSITORY
from tests.serving.dev_pages import write_tool

GREET = """{
  "name": "greet",
  "description": "Greet somebody by name.",
  "parameters": {
    "type": "object", "required": ["who"],
    "properties": {"who": {"type": "string", "description": "Whom to greet."}}
  }
}
"""
GREETS = 'def greet(who: str) -> str:\n    return f"Hello, {who}."\n'
GREETS_WRONGLY = GREETS.replace("who", "whom")

STOP = {
    "type": "object",
    "description": "A place and how long.",
    "required": ["place"],
    "properties": {
        "place": {"type": "string", "description": "A town."},
        "nights": {
            "type": "integer", "description": "How many nights.", "minimum": 0, "maximum": 30,
            "default": 1,
        },
        "flexible": {"type": "boolean", "description": "Whether it may move.", "default": False},
    },
}  # fmt: skip
CARD = {
    "type": "object",
    "title": "Card",
    "required": ["kind", "last4"],
    "properties": {
        "kind": {"const": "card", "description": "By card."},
        "last4": {"type": "string", "description": "Its last digits.", "pattern": "^[0-9]{4}$"},
    },
}
INVOICE = {
    "type": "object",
    "title": "Invoice",
    "required": ["kind", "to"],
    "properties": {
        "kind": {"const": "invoice", "description": "By invoice."},
        "to": {"type": "string", "description": "Who pays."},
    },
}
TRIP: dict[str, Any] = {
    "type": "object",
    "required": ["title", "stops"],
    "additionalProperties": False,
    "$defs": {
        "stop": STOP,
        "party": {
            "type": "object",
            "description": "Those who travel together.",
            "required": ["name"],
            "properties": {
                "name": {"type": "string", "description": "What they are called."},
                "parts": {
                    "type": "array", "description": "Parties within.",
                    "items": {"$ref": "#/$defs/party"},
                },
            },
        },
    },
    "properties": {
        "title": {
            "type": "string", "description": "What the trip is called.", "minLength": 1,
            "maxLength": 80,
        },
        "start": {"type": "string", "format": "date", "description": "The first day."},
        "pace": {
            "description": "How fast.",
            "oneOf": [{"const": "slow", "title": "Slow"}, {"const": "fast", "title": "Fast"}],
        },
        "budget": {
            "description": "What it may cost.", "anyOf": [{"type": "number"}, {"type": "null"}],
        },
        "stops": {
            "type": "array", "description": "Where to go.", "items": {"$ref": "#/$defs/stop"},
            "minItems": 1,
        },
        "pay": {"description": "How to pay.", "oneOf": [CARD, INVOICE]},
        "tags": {
            "type": "array", "description": "What it's about.",
            "items": {"type": "string", "enum": ["food", "art", "sea"]},
        },
        "labels": {
            "type": "object", "description": "More about it.",
            "additionalProperties": {"type": "string"},
        },
        "party": {"$ref": "#/$defs/party"},
    },
}  # fmt: skip

COUNTS = """
import time

from sovl_tools import ToolContext


def slow_count(to: int = 3, *, context: ToolContext) -> int:
    for number in range(1, to + 1):
        context.report_progress(number, to, f"at {number}")
        context.log("info", f"counted {number}")
        print(f"printed {number}")
        while to > 100:  # until Stop
            if context.cancelled:
                return 0
            time.sleep(0.01)
    return to
"""
BOOKS = """
from sovl_tools import ToolContext


async def book_table(day: str, context: ToolContext) -> str:
    seats = {"type": "integer", "minimum": 1, "maximum": 12, "description": "How many."}
    schema = {"type": "object", "properties": {"seats": seats}, "required": ["seats"]}
    answer = await context.elicit(f"For how many on {day}?", schema)
    return f"a table for {answer.content['seats']}" if answer.ok else "not booked"
"""
DRAWS = """
from sovl_tools import Image

SVG = b'<svg xmlns="http://www.w3.org/2000/svg" width="60" height="60"><circle r="30"/></svg>'


def logo() -> list:
    return ["Our logo is a circle.", Image(SVG)]
"""


def write_example(root: Path) -> None:
    """Write ``tools`` and ``procedures`` into a directory."""
    tools = root / "tools"
    shutil.copytree(REPOSITORY / "tools", tools, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(REPOSITORY / "docs/examples/procedures", root / "procedures")
    write_tool(tools, "greet", GREETS)
    (tools / "greet/greet.json").write_text(GREET)
    write_tool(
        tools,
        "plan_trip",
        'def plan_trip(**trip) -> dict:\n    """Plan."""\n    return trip\n',
        title="Plan a trip",
        description="Plan a trip with stops, travellers and a way to pay.",
        tags=["travel", "example"],
        activation_phrases=["plan a trip"],
        parameters=TRIP,
    )
    whole = {"type": "integer", "description": "How far.", "minimum": 1, "default": 3}
    count = {"type": "object", "properties": {"to": whole}}
    write_tool(tools, "slow_count", COUNTS, description="Count slowly.", parameters=count)
    day = {"type": "string", "description": "Which day."}
    book = {"type": "object", "properties": {"day": day}, "required": ["day"]}
    write_tool(tools, "book_table", BOOKS, description="Book a table.", parameters=book)
    nothing = {"type": "object", "properties": {}}
    write_tool(tools, "logo", DRAWS, description="Show the logo.", parameters=nothing)
    write_tool(
        tools,
        "delete_all",
        'def delete_all() -> str:\n    return "gone"\n',
        description="Delete everything.",
        parameters=nothing,
        annotations={"destructive": True},
    )
    write_tool(tools, "old_sum", "def old_sum(text): ...\n", enabled=False)
    requires = {"packages": ["no_such_package_for_pdf"]}
    write_tool(tools, "render_pdf", "def render_pdf(text): ...\n", requires=requires)
