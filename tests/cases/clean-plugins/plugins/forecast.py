from __future__ import annotations

from sovl_tools import AITool, tool


@tool(params={"day": {"enum": lambda: [Day.today]}})
def forecast(day: Day) -> str:
    """Tell the weather of a day.

    Args:
        day: Which day.
    """
    return str(day)


class Day(str):
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
