"""The guides tell the truth: every block of theirs is run; ``blocks.py`` says how to write one.

After a change that is meant, ``scripts/test tests/docs --bless`` writes the outputs again.
"""

from __future__ import annotations

import json
import os
import re
from difflib import unified_diff
from pathlib import Path
from unittest.mock import patch

import pytest

from sovl_tools.formats.base import FORMATS as PROVIDERS
from sovl_tools.model.folder import KEYS
from sovl_tools.schema.engine import published, schema_text
from tests.conftest import REPOSITORY
from tests.docs.blocks import Document
from tests.docs.document_player import played

DOCS = REPOSITORY / "docs"
MANIFEST = DOCS / "reference" / "manifest.md"
FORMATS_PAGE = DOCS / "reference" / "formats.md"
COMMANDS = DOCS / "reference" / "commands"
TUTORIAL = DOCS / "tutorial"
OTHERS = {"examples"}
PAGES = [
    *(path for path in sorted(DOCS.rglob("*.md")) if path.relative_to(DOCS).parts[0] not in OTHERS),
    REPOSITORY / "README.md",
]
NOT_RUN = {"ci", "check", "dev"}
"""``test_ci.py`` runs the blocks of the page about CI; the others start servers."""
RUN = [
    path for path in PAGES if "```" in path.read_text(encoding="utf-8") and path.stem not in NOT_RUN
]

each_page = pytest.mark.parametrize(
    "path", RUN, ids=[str(path.relative_to(DOCS.parent)) for path in RUN]
)


def before(path: Path) -> list[Path]:
    """Return the pages whose files a page goes on with."""
    if path.parent == COMMANDS:
        return [COMMANDS / "index.md"]
    if path.parent == TUTORIAL:
        return [each for each in sorted(TUTORIAL.glob("*.md")) if each < path]
    return []


@pytest.mark.unmeasured
@each_page
def test_a_page_does_what_it_says(
    path: Path,
    request: pytest.FixtureRequest,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    page = Document.read(path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    for key in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "OPENROUTER_API_KEY"):
        monkeypatch.delenv(key, raising=False)
    for earlier in before(path):
        for title, body in Document.read(earlier).files.items():
            Path(title).parent.mkdir(parents=True, exist_ok=True)
            Path(title).write_text(body, encoding="utf-8")
    with patch.dict(os.environ):  # a page may set variables
        actual = played(page)
    if request.config.getoption("--bless"):
        path.write_text(actual.text, encoding="utf-8")
        return
    difference = unified_diff(
        page.text.splitlines(), actual.text.splitlines(), path.name, "what came", lineterm=""
    )
    assert page == actual, "\n".join(difference)


def test_the_guide_has_a_row_for_every_key_of_a_manifest() -> None:
    text = MANIFEST.read_text(encoding="utf-8")
    sections = json.loads(schema_text("tool"))["properties"]
    inner = {key for section in sections.values() for key in section.get("properties", ())}
    assert [key for key in sorted(KEYS) if f"\n| `{key}` |" not in text] == []
    assert [key for key in sorted(inner) if f"`{key}`" not in text] == []


def test_the_example_in_the_row_of_a_key_fits_the_schema() -> None:
    rows = re.findall(
        r"^\| `([^`]+)` \|.*\| `([^`]+)` \|$", MANIFEST.read_text(encoding="utf-8"), re.MULTILINE
    )
    examples = {key: json.loads(example) for key, example in rows if key in KEYS}
    assert examples.keys() == KEYS
    assert published("tool").problems(examples) == []


def test_every_format_is_described() -> None:
    text = FORMATS_PAGE.read_text(encoding="utf-8")
    assert [name for name in PROVIDERS if f"\n| `{name}` |" not in text] == []
