from asyncio import gather

from sovl_tools import ToolContext

SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string"}},
    "required": ["name"],
}


async def test_input_required_result_multiple_inputs(context: ToolContext) -> str:
    name, greeting, roots = await gather(
        context.elicit("What is your name?", SCHEMA, key="user_name"),
        context.sample("Generate a greeting", max_tokens=50, key="greeting"),
        context.list_roots(key="client_roots"),
    )
    return f"{greeting.text} {name.content} {len(roots)}"
