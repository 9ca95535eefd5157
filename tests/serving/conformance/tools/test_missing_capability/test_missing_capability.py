from sovl_tools import ToolContext

SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string"}},
    "required": ["name"],
}


async def test_missing_capability(context: ToolContext) -> str:
    answer = await context.elicit("What is your name?", SCHEMA)
    return f"Hello, {answer.content['name']}!" if answer.content else "Hello!"
