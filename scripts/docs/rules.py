"""A page for each rule of ``validate``, from the rule's docstring and its golden case."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from sovl_tools.linting.fixes import remedy_of
from sovl_tools.linting.rules import FAMILIES, RULES
from sovl_tools.model.diagnostic import Rule

CASES = Path(__file__).parents[2] / "tests" / "cases"
_OF_GIT = ("diff --git", "similarity index", "new file mode", "deleted file mode")


def pages() -> dict[str, str]:
    """Return the pages of all rules by path."""
    return {f"reference/rules/{code}.md": page(rule) for code, rule in RULES.items()}


def index() -> str:
    """Return a table of rules for each family of codes."""
    blocks = []
    for prefix, words in FAMILIES.items():
        rows = [
            f"| [{code}]({code}.md) | {rule.name} | {rule.severity} | {_plain(rule.title)} |"
            for code, rule in RULES.items()
            if code.startswith(prefix)
        ]
        blocks += [
            f"## {prefix}xx: {words}\n",
            "| code | name | | |",
            "|---|---|---|---|",
            *rows,
            "",
        ]
    return "\n".join(blocks)


def page(rule: Rule) -> str:
    """Return the page of a rule."""
    blocks = [
        f"# {rule.code}: {rule.name}",
        _LIFTED if rule.severity == "warning" else _ERROR,
        _plain(rule.explanation),
        _plain(remedy_of(rule.code)),
    ]
    if found := example_of(rule.code):
        blocks += ["## Example", f"```text\n{found}\n```"]
    if fixed := fixed_example_of(rule.code):
        blocks += ["## Fixed", f"```diff\n{fixed}\n```"]
    if rule.severity == "warning":
        blocks += ["## Suppress it", _SUPPRESS.format(code=rule.code, name=rule.name)]
    return "\n\n".join(block for block in blocks if block) + "\n"


_ERROR = "*Error: the tool isn't loaded until it's fixed.*"
_LIFTED = "*Warning: the tool loads anyway.*"
_SUPPRESS = """For one tool, `"x-ignore": ["{code}"]` in its manifest. For all tools:

```toml
[tool.sovl-tools]
ignore = ["{name}"]
```"""


def _plain(words: str) -> str:
    """Return text in reStructuredText's literals as Markdown."""
    return words.replace("``", "`")


def example_of(code: str) -> str:
    """Return the finding of the plainest golden case of a rule, or ""."""
    return next((found for _, found in _examples(code)), "")


def fixed_example_of(code: str) -> str:
    """Return the change that fixes that case, or "" if no change of files does."""
    for case, _ in _examples(code):
        diff = case / "mended.diff"
        text = diff.read_text(encoding="utf-8", errors="replace") if diff.exists() else ""
        return "\n".join(each for each in text.splitlines() if not each.startswith(_OF_GIT))
    return ""


def _size(case: Path) -> tuple[bool, int, int, str]:
    """Order cases: those that are fixed first, then those with little to read."""
    found = (case / "expected.txt").read_text(encoding="utf-8")
    files = [
        each for each in case.rglob("*.*") if each.is_file() and "__pycache__" not in each.parts
    ]
    is_open = not (case / "mended.diff").exists()
    return is_open, found.count(": ST"), sum(each.stat().st_size for each in files), case.name


def _examples(code: str) -> Iterator[tuple[Path, str]]:
    """Yield the golden cases of a rule, small ones first, each with its first finding."""
    for case in sorted(CASES.glob(f"{code}*"), key=_size):
        blocks = (case / "expected.txt").read_text(encoding="utf-8").strip().split("\n\n")
        # a message can have an empty line: a block without a code belongs to the one before
        found = [each for each in blocks if re.search(rf": {code} ", each.partition("\n")[0])]
        if found:
            yield case, found[0]
