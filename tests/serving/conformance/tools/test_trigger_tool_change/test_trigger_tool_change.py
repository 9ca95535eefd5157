import shutil
from pathlib import Path

from sovl_tools import ToolContext

MANIFEST = """{
  "name": "test_that_comes_and_goes",
  "description": "Be there or not.",
  "parameters": {"type": "object", "properties": {}}
}
"""
CODE = """def test_that_comes_and_goes() -> str:
    return "there"
"""


def test_trigger_tool_change(context: ToolContext) -> str:
    folder = Path(__file__).parents[1] / "test_that_comes_and_goes"
    if folder.exists():
        shutil.rmtree(folder)
        return "gone"
    folder.mkdir()
    (folder / f"{folder.name}.json").write_text(MANIFEST)
    (folder / f"{folder.name}.py").write_text(CODE)
    return "there"
