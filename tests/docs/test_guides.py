"""The guides tell the truth: every block of theirs is run; ``blocks.py`` says how to write one.

After a change that is meant, ``scripts/test tests/docs --bless`` writes the outputs again.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from difflib import unified_diff
from pathlib import Path
from unittest.mock import patch

import click
import pytest

from sovl_tools.cli.main import COMMANDS, group
from sovl_tools.formats.base import FORMATS as PROVIDERS
from sovl_tools.linting.rules import FAMILIES
from sovl_tools.model.folder import KEYS
from sovl_tools.reporting.outcome import FORMATS
from sovl_tools.schema.engine import published, schema_text
from tests.conftest import REPOSITORY
from tests.docs.blocks import Document
from tests.docs.document_player import played
from tests.forked_commands import Forker
from tests.tables import check_each

GUIDE = REPOSITORY / "docs" / "tool-guide.md"
REFERENCE = REPOSITORY / "docs" / "commands.md"
PAGES = [
    GUIDE,
    REFERENCE,
    *(REPOSITORY / "docs" / f"{name}.md" for name in ("running", "hot-reload", "authoring")),
    *(REPOSITORY / "docs" / f"{name}.md" for name in ("migration", "formats", "search")),
    *(REPOSITORY / "docs" / f"{name}.md" for name in ("agents", "chat", "procedures", "importing")),
    *(REPOSITORY / "docs" / f"{name}.md" for name in ("serving", "cluster", "rename")),
    REPOSITORY / "README.md",
]

each_page = pytest.mark.parametrize("path", PAGES, ids=[path.name for path in PAGES])


@pytest.mark.unmeasured
@each_page
def test_a_page_does_what_it_says(
    path: Path,
    request: pytest.FixtureRequest,
    forks: Forker,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    page = Document.read(path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    for key in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "OPENROUTER_API_KEY"):
        monkeypatch.delenv(key, raising=False)
    with patch.dict(os.environ):  # a page may set variables
        actual = played(page, forks)
    if request.config.getoption("--bless"):
        path.write_text(actual.text, encoding="utf-8")
        return
    difference = unified_diff(
        page.text.splitlines(), actual.text.splitlines(), path.name, "what came", lineterm=""
    )
    assert page == actual, "\n".join(difference)


@check_each("path", [*REPOSITORY.glob("*.md"), *REPOSITORY.glob("docs/**/*.md")])
def test_a_link_leads_to_a_file_or_a_heading(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    links = [link for link in re.findall(r"\]\(([^)\s]+)\)", text) if "://" not in link]
    assert [link for link in links if not _leads_somewhere(path, link)] == []


def _leads_somewhere(path: Path, link: str) -> bool:
    file, _, anchor = link.partition("#")
    target = (path.parent / file).resolve() if file else path
    return target.exists() and (not anchor or anchor in _anchors(target))


def _anchors(path: Path) -> Iterator[str]:
    """Yield the anchors that GitHub gives the headings of a page."""
    text = re.sub(
        r"^```.*?^```$", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL
    )
    for heading in re.findall(r"^#+ (.+)$", text, flags=re.MULTILINE):
        yield re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def test_the_guide_shows_the_example_tool_as_it_ships() -> None:
    shown = Document.read(GUIDE).files
    shipped = sorted((REPOSITORY / "tools" / "example_tool").glob("example_tool.*"))
    assert len(shipped) == 2
    for file in shipped:
        assert shown[f"tools/example_tool/{file.name}"] == file.read_text(encoding="utf-8")


def test_the_guide_has_a_row_for_every_key_of_a_manifest() -> None:
    text = GUIDE.read_text(encoding="utf-8")
    sections = json.loads(schema_text("tool"))["properties"]
    inner = {key for section in sections.values() for key in section.get("properties", ())}
    assert [key for key in sorted(KEYS) if f"\n| `{key}` |" not in text] == []
    assert [key for key in sorted(inner) if f"`{key}`" not in text] == []


def test_the_example_in_the_row_of_a_key_fits_the_schema() -> None:
    rows = re.findall(
        r"^\| `([^`]+)` \|.*\| `([^`]+)` \|$", GUIDE.read_text(encoding="utf-8"), re.MULTILINE
    )
    examples = {key: json.loads(example) for key, example in rows if key in KEYS}
    assert examples.keys() == KEYS
    assert published("tool").problems(examples) == []


def test_the_guide_names_every_family_of_codes() -> None:
    text = GUIDE.read_text(encoding="utf-8")
    assert [family for family in FAMILIES if f"\n| `{family}xx` |" not in text] == []


@check_each("name", COMMANDS)
def test_the_reference_has_a_section_with_every_option_of_a_command(name: str) -> None:
    _, found, rest = REFERENCE.read_text(encoding="utf-8").partition(f"\n## {name}\n")
    section = rest.partition("\n## ")[0]
    command = group.get_command(click.Context(group), name)
    assert found
    assert command is not None
    options = [each for each in command.params if isinstance(each, click.Option)]
    options = [each for each in options if not each.hidden]
    assert [option.opts for option in options if f"`{option.opts[0]}" not in section] == []


def test_the_reference_shows_every_format_of_a_report() -> None:
    text = REFERENCE.read_text(encoding="utf-8")
    assert [name for name in FORMATS if f"\n**{name}** " not in text] == []


FORMATS_PAGE = REPOSITORY / "docs" / "formats.md"
_TABLE = re.compile(r"(?<=<!-- table -->\n).*(?=<!-- end of table -->)", re.DOTALL)


def test_the_table_of_keywords_is_what_the_formats_do(request: pytest.FixtureRequest) -> None:
    script = REPOSITORY / "scripts" / "docs" / "formats.py"
    command = [sys.executable, str(script)]
    made = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    text = FORMATS_PAGE.read_text(encoding="utf-8")
    if request.config.getoption("--bless"):
        FORMATS_PAGE.write_text(_TABLE.sub(lambda _: made, text), encoding="utf-8")
        return
    found = _TABLE.search(text)
    assert found is not None
    assert found.group() == made


def test_every_format_is_described() -> None:
    text = FORMATS_PAGE.read_text(encoding="utf-8")
    assert [name for name in PROVIDERS if f"\n| `{name}` |" not in text] == []
