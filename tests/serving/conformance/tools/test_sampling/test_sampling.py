from sovl_tools import ToolContext


async def test_sampling(prompt: str, context: ToolContext) -> str:
    sample = await context.sample(prompt, max_tokens=100)
    return f"LLM response: {sample.text}"
