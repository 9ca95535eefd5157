from sovl_tools import ToolContext

SCHEMA = {
    "type": "object",
    "properties": {"ok": {"type": "boolean"}},
    "required": ["ok"],
}


async def test_input_required_result_request_state(context: ToolContext) -> str:
    answer = await context.elicit("Please confirm", SCHEMA)
    return f"state-ok: {answer.action}"
