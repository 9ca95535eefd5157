from typing import Any

from sovl_tools import ToolContext


def text(name: str) -> dict[str, Any]:
    return {"type": "object", "properties": {name: {"type": "string"}}, "required": [name]}


async def test_input_required_result_multi_round(context: ToolContext) -> str:
    first = await context.elicit("Step 1: What is your name?", text("name"))
    second = await context.elicit("Step 2: What is your favorite color?", text("color"))
    return f"{first.content} {second.content}"
