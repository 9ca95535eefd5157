from sovl_tools import ToolContext

SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string"}},
    "required": ["name"],
}


async def test_input_required_result_capabilities(context: ToolContext) -> str:
    answer = await context.elicit("What is your name?", SCHEMA)
    return f"Hello, {answer.content['name']}!" if answer.content else "Hello!"
