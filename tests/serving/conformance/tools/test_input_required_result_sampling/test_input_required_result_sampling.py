from sovl_tools import ToolContext


async def test_input_required_result_sampling(context: ToolContext) -> str:
    question = "What is the capital of France?"
    return (await context.sample(question, max_tokens=100, key="capital_question")).text
