from sovl_tools import ToolContext


async def test_input_required_result_list_roots(context: ToolContext) -> list[str]:
    return [each.uri for each in await context.list_roots(key="client_roots")]
