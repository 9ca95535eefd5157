import asyncio

from sovl_tools import ToolContext


async def test_tool_with_progress(context: ToolContext) -> str:
    context.report_progress(0, 100)
    await asyncio.sleep(0.05)
    context.report_progress(50, 100)
    await asyncio.sleep(0.05)
    context.report_progress(100, 100)
    return "done"
