from sovl_tools import ToolError


def test_error_handling() -> str:
    raise ToolError("This tool intentionally returns an error for testing")
