from sovl_tools import ToolContext

SCHEMA = {
    "type": "object",
    "properties": {
        "username": {"type": "string", "description": "User's response"},
        "email": {"type": "string", "description": "User's email address"},
    },
    "required": ["username", "email"],
}


async def test_elicitation(message: str, context: ToolContext) -> str:
    answer = await context.elicit(message, SCHEMA)
    return f"User response: action={answer.action}, content={answer.content}"
