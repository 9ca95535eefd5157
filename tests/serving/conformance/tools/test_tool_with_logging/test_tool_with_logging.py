import asyncio

from sovl_tools import ToolContext


async def test_tool_with_logging(context: ToolContext) -> str:
    context.log("info", "Tool execution started")
    await asyncio.sleep(0.05)
    context.log("info", "Tool processing data")
    await asyncio.sleep(0.05)
    context.log("info", "Tool execution completed")
    return "logged"
