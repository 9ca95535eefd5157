"""The documentation site is built without a warning, and its pages load nothing from elsewhere."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest

from sovl_tools.cli.main import COMMANDS
from sovl_tools.linting.rules import RULES
from tests.conftest import REPOSITORY
from tests.tables import check_each

SCRIPTS = REPOSITORY / "scripts" / "docs"
LOADING = {"script": "src", "img": "src", "iframe": "src", "source": "src", "link": "href"}
"""Elements that a browser loads something for, with the attribute that says what."""


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every page, hand-written and generated, in Markdown."""
    target = tmp_path_factory.mktemp("site")
    subprocess.run([sys.executable, SCRIPTS / "pages.py", target], check=True)
    return target


class Loaded(HTMLParser):
    """The addresses that a page loads."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        if tag in LOADING and named.get("rel") not in {"canonical", "prev", "next"}:
            self.found.append(named.get(LOADING[tag]) or "")


def test_the_site_is_built_and_loads_nothing_from_another_host(pages: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "zensical",
        "build",
        "--strict",
        "-f",
        str(pages / "mkdocs.yml"),
    ]
    done = subprocess.run(command, cwd=pages, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    site = pages / "site"
    assert (site / "index.html").is_file()
    assert (site / "llms-full.txt").is_file()
    assert [
        code for code in RULES if not (site / f"reference/rules/{code}/index.html").exists()
    ] == []
    for file in site.rglob("*.html"):
        parser = Loaded()
        parser.feed(file.read_text(encoding="utf-8"))
        assert [each for each in parser.found if "//" in each] == [], file
    for file in site.rglob("*.css"):
        assert not re.search(r"(?:@import|url\()\W*https?:", file.read_text(encoding="utf-8")), file


def test_every_command_has_a_page_with_its_options(pages: Path) -> None:
    folder = pages / "docs" / "reference" / "commands"
    assert {path.stem for path in folder.glob("*.md")} == {"index", *COMMANDS}
    for path in folder.glob("*.md"):
        assert path.stem == "index" or "```text\nsovl-tools " in path.read_text(encoding="utf-8")


def test_every_rule_has_an_example_and_what_fixes_it(pages: Path) -> None:
    folder = pages / "docs" / "reference" / "rules"
    texts = {code: (folder / f"{code}.md").read_text(encoding="utf-8") for code in RULES}
    assert [code for code, text in texts.items() if "\n## Example\n" not in text] == []
    # no change of a tool's files would be right: a mistake of ours, a path, a command to run
    others = {code for code, text in texts.items() if "\n## Fixed\n" not in text}
    assert others == {"ST001", "ST101", "ST107", "ST314"}


def test_links_lead_to_pages_and_headings(pages: Path) -> None:
    for path in (pages / "docs").rglob("*.md"):
        links = re.findall(r"\]\(([^)\s]+)\)", _prose(path))
        assert [each for each in links if "://" not in each and not _leads(path, each)] == [], path


@check_each("path", [*REPOSITORY.glob("*.md"), *REPOSITORY.glob("docs/**/*.md")])
def test_a_link_in_the_repository_leads_to_a_file(path: Path) -> None:
    links = [each for each in re.findall(r"\]\(([^)\s#]+)", _prose(path)) if "://" not in each]
    made = re.compile(r"(?:rules/ST\d{3}|api/\w+)\.md$")
    assert [
        each for each in links if not made.search(each) and not (path.parent / each).exists()
    ] == []


def _prose(path: Path) -> str:
    text = path.read_text(encoding="utf-8")
    return re.sub(r"^```.*?^```$|`[^`\n]*`", "", text, flags=re.MULTILINE | re.DOTALL)


def _leads(path: Path, link: str) -> bool:
    file, _, anchor = link.partition("#")
    target = path.parent / file if file else path
    return target.is_file() and (not anchor or anchor in _anchors(target))


def _anchors(path: Path) -> Iterator[str]:
    """Yield the anchors of a page's headings."""
    text = re.sub(
        r"^```.*?^```$", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL
    )
    for heading in re.findall(r"^#+ (.+)$", text, flags=re.MULTILINE):
        yield re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
