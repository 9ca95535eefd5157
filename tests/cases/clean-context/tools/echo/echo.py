from sovl_tools import ToolContext


def echo(text: str, context: ToolContext, other: ToolContext | None = None) -> str:
    context.log('info', text)
    return text
