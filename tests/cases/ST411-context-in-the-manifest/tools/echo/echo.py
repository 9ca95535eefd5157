from sovl_tools import ToolContext


def echo(text: str, context: ToolContext) -> str:
    return text
