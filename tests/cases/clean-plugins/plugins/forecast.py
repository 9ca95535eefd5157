from __future__ import annotations

from enum import Enum

from sovl_tools import AITool, tool


@tool(params={"day": {"enum": lambda: [each.value for each in Day]}})
def forecast(day: Day) -> str:
    """Tell the weather of a day.

    Args:
        day: Which day.
    """
    return day.name


class Day(Enum):
    today = "today"


class _Station(AITool):
    parameters_schema = {"type": "object", "properties": {}}

    def execute(self):
        return self.name


class North(_Station):
    name = "north"
    description = "Tell the wind in the north."


class Other(_Station):
    name = ""
    description = "Tell the wind elsewhere."

    def __init__(self, name):
        self.name = name


south = Other("south")
west = Other("west")
