"""The documentation site is built without a warning, and its pages load nothing from elsewhere."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from playwright.async_api import async_playwright

from sovl_tools.cli.main import COMMANDS
from sovl_tools.linting.rules import RULES
from tests.conftest import REPOSITORY
from tests.serving.browsers import CHROMIUM, FLAGS
from tests.tables import check_each

SCRIPTS = REPOSITORY / "scripts" / "docs"


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every page, hand-written and generated, in Markdown."""
    target = tmp_path_factory.mktemp("site")
    subprocess.run([sys.executable, SCRIPTS / "pages.py", target], check=True)
    return target


@pytest.fixture(scope="module")
def site(pages: Path) -> Path:
    """The site, built without a warning."""
    program = [sys.executable, "-m", "zensical", "build", "--strict"]
    done = subprocess.run(
        [*program, "-f", str(pages / "mkdocs.yml")],
        cwd=pages,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return pages / "site"


def test_the_site_has_every_page_and_texts_for_models(pages: Path, site: Path) -> None:
    made = {path.relative_to(pages / "docs") for path in (pages / "docs").rglob("*.md")}
    assert (site / "index.html").is_file()
    assert [path for path in made if path.name != "index.md" and not _built(site, path)] == []
    assert "ST402" in (site / "llms-full.txt").read_text(encoding="utf-8")
    assert "(reference/manifest/)" in (site / "llms.txt").read_text(encoding="utf-8")


def _built(site: Path, path: Path) -> bool:
    return (site / path.with_suffix("") / "index.html").is_file()


@pytest.mark.skipif(not Path(CHROMIUM).exists(), reason="no browser; set CHROMIUM")
async def test_a_browser_loads_nothing_from_another_host(site: Path) -> None:
    handler = partial(Quiet, directory=str(site))
    asked: list[str] = []
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        here = f"http://127.0.0.1:{server.server_port}/"
        async with async_playwright() as started:
            browser = await started.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
            page = await browser.new_page()
            page.on("request", lambda request: asked.append(request.url))
            for path in ("", "tutorial/2-mistakes/", "reference/rules/ST402/", "architecture/"):
                await page.goto(here + path, wait_until="networkidle")
            await browser.close()
        server.shutdown()
    assert len(asked) > 4
    assert [url for url in asked if not url.startswith((here, "data:"))] == []


class Quiet(SimpleHTTPRequestHandler):
    """Serves files without a log."""

    def log_message(self, *_: object) -> None:
        """Say nothing."""


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
        assert not re.search(r"!\[[^]]*\]\(https?:", _prose(path)), path
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
