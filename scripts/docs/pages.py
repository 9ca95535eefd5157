"""Writes the pages of the site into a folder: those under ``docs/`` and those that are generated.

    python scripts/docs/pages.py build/pages

A line ``<!-- generated: NAME -->`` in a page is replaced by what NAME in ``PARTS`` returns. Nothing
that is generated is committed.
"""

from __future__ import annotations

import os
import posixpath
import re
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import api
import commands
import formats
import names
import rules
import yaml

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
OUTSIDE = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "CHANGELOG.md": "project/changelog.md",
    "SECURITY.md": "project/security.md",
}
"""Pages at the top of the repository, with their places on the site."""

PARTS: Mapping[str, Callable[[], str]] = {
    "api": api.index,
    "commands": commands.index,
    "formats": formats.table,
    "names": names.table,
    "rules": rules.index,
}
_PART = re.compile(r"^<!-- generated: (?P<name>\w+)(?: (?P<argument>[\w-]+))? -->$", re.MULTILINE)
_FENCED = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"(?P<image>!?)\[(?P<label>(?:[^\[\]`]|`[^`]*`)+)\]\((?P<target>[^)\s]+)\)")


def sources() -> dict[str, str]:
    """Return the hand-written pages by their paths in the repository."""
    inside = [
        path for path in sorted(DOCS.rglob("*.md")) if path.relative_to(DOCS).parts[0] != "examples"
    ]
    files = [*(ROOT / name for name in OUTSIDE), *inside]
    return {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in files}


def pages() -> dict[str, str]:
    """Return all pages by their paths on the site."""
    written = sources()
    made = {**rules.pages(), **api.pages()}
    known = {path: place(path) for path in written} | {f"docs/{path}": path for path in made}
    shown = {place(path): linked(path, filled(text), known) for path, text in written.items()}
    return shown | made


def place(path: str) -> str:
    """Return the path on the site of a page in the repository."""
    return OUTSIDE.get(path) or path.removeprefix("docs/")


def filled(text: str) -> str:
    """Return a page with its generated parts."""

    def part(found: re.Match[str]) -> str:
        if found["name"] == "command":
            return commands.section(found["argument"])
        return PARTS[found["name"]]()

    return _PART.sub(part, text)


def linked(path: str, text: str, known: Mapping[str, str]) -> str:
    """Return a page with links for the site. What only the repository has is no longer a link."""

    def link(found: re.Match[str]) -> str:
        file, hash_, anchor = found["target"].partition("#")
        if not file or "://" in file:
            return found.group()
        target = posixpath.normpath(posixpath.join(posixpath.dirname(path), file))
        here = posixpath.dirname(place(path)) or "."
        if target in known:
            to = posixpath.relpath(known[target], here)
        elif found["image"] and target.startswith("docs/"):
            to = posixpath.relpath(target.removeprefix("docs/"), here)
        else:
            return found["label"]
        return f"{found['image']}[{found['label']}]({to}{hash_}{anchor})"

    parts = _FENCED.split(text)
    return "".join(part if n % 2 else _LINK.sub(link, part) for n, part in enumerate(parts))


def navigation(entries: list[Any], paths: list[str]) -> Iterator[Any]:
    """Yield the navigation; ``folder/*`` becomes the pages of the folder that it doesn't name."""
    for entry in entries:
        if isinstance(entry, str) and entry.endswith("/*"):
            inside = (path for path in paths if posixpath.dirname(path) == entry[:-2])
            yield from (path for path in inside if not path.endswith("index.md"))
        elif isinstance(entry, dict):
            yield {
                title: [*navigation(value, paths)] if isinstance(value, list) else value
                for title, value in entry.items()
            }
        else:
            yield entry


def listed(entries: list[Any]) -> Iterator[str]:
    """Yield the paths of the pages in a navigation, in its order."""
    for entry in entries:
        if isinstance(entry, str):
            yield entry
        else:
            for value in entry.values():
                yield from listed(value if isinstance(value, list) else [value])


def title(text: str) -> str:
    """Return the heading of a page."""
    return next(line[2:] for line in text.split("\n") if line.startswith("# "))


def for_models(every: Mapping[str, str], order: list[str], about: str) -> dict[str, str]:
    """Return ``llms.txt``, the list of pages, and ``llms-full.txt`` with their texts."""
    lines = [f"- [{title(every[path])}]({path.removesuffix('.md')}/)" for path in order[1:]]
    return {
        "llms.txt": "\n".join(["# sovl-tools", "", f"> {about}", "", "## Pages", "", *lines, ""]),
        "llms-full.txt": "\n\n".join(every[path].strip() for path in order) + "\n",
    }


def write(target: Path) -> None:
    """Write the pages, their files and the settings of the generator."""
    settings = yaml.safe_load((DOCS / "mkdocs.yml").read_text(encoding="utf-8"))
    every = pages()
    settings["nav"] = [*navigation(settings["nav"], sorted(every))]
    texts = for_models(every, [*listed(settings["nav"])], settings["site_description"])
    shutil.rmtree(target, ignore_errors=True)
    for path, text in {**every, **texts}.items():
        file = target / "docs" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    if (DOCS / "assets").is_dir():
        shutil.copytree(DOCS / "assets", target / "docs" / "assets")
    (target / "mkdocs.yml").write_text(yaml.safe_dump(settings, sort_keys=False), encoding="utf-8")


if __name__ == "__main__":
    write(Path(os.path.abspath(sys.argv[1])))
