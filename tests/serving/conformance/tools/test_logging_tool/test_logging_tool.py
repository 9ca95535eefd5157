from sovl_tools import ToolContext


def test_logging_tool(context: ToolContext) -> str:
    context.log("info", "This is a log message")
    return "logged"
