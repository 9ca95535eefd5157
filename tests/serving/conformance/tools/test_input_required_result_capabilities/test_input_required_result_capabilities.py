from sovl_tools import ToolContext


async def test_input_required_result_capabilities(context: ToolContext) -> str:
    return (await context.sample("Say hello", max_tokens=100)).text
