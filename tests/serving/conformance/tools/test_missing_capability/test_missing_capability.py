from sovl_tools import ToolContext


async def test_missing_capability(context: ToolContext) -> str:
    return (await context.sample("Say hello", max_tokens=100)).text
