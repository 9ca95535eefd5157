from sovl_tools import ToolContext

SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {
            "type": "string",
            "enum": ["active", "inactive", "pending"],
            "default": "active",
        },
        "verified": {"type": "boolean", "default": True},
    },
}


async def test_elicitation_sep1034_defaults(context: ToolContext) -> str:
    answer = await context.elicit("Please review and update the form fields", SCHEMA)
    return f"Elicitation completed: action={answer.action}, content={answer.content}"
