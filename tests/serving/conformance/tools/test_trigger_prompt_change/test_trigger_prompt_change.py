import shutil
from pathlib import Path

MANIFEST = """{
  "name": "test_prompt_that_comes_and_goes",
  "description": "Be there or not.",
  "parameters": {"type": "object", "properties": {}},
  "activation_phrases": ["come and go"]
}
"""
CODE = """def test_prompt_that_comes_and_goes() -> str:
    return "there"
"""


def test_trigger_prompt_change() -> str:
    folder = Path(__file__).parents[1] / "test_prompt_that_comes_and_goes"
    if folder.exists():
        shutil.rmtree(folder)
        return "gone"
    folder.mkdir()
    (folder / f"{folder.name}.json").write_text(MANIFEST)
    (folder / f"{folder.name}.py").write_text(CODE)
    return "there"
