"""What every rule finds, as ``docs/rules.md``: from the rules' own words and the golden cases.

python scripts/docs/rules.py
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from sovl_tools.linting.fixes import remedy_of
from sovl_tools.linting.rules import FAMILIES, RULES
from sovl_tools.model.diagnostic import Rule

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "rules.md"
CASES = ROOT / "tests" / "cases"

HEAD = """# Rules

Every rule of `sovl-tools validate` in the order of its codes; `sovl-tools explain CODE` prints the
same words. `select`, `ignore` and `per-tool-ignores` in
[the configuration](commands.md#configuration), `--select`, `--ignore`, `"x-ignore"` and
`# sovl: ignore[...]` take codes, beginnings of codes and names. An error keeps a tool from being
loaded, a warning doesn't. Each example is what `validate` prints of a tool with that mistake, with
what to do in its last line, and then what would be right. No rule finds anything in this one:

```json title="tools/say/say.json"
{
  "name": "say",
  "description": "Say a text so and so often.",
  "parameters": {
    "type": "object",
    "properties": {
      "text": {"type": "string", "description": "What to say."},
      "times": {"type": "integer", "description": "How often.", "minimum": 1, "default": 1}
    },
    "required": ["text"],
    "additionalProperties": false
  },
  "examples": [{"input": {"text": "hello", "times": 2}, "output": "hello hello"}],
  "activation_phrases": ["say something"]
}
```

```python title="tools/say/say.py"
def say(text: str, times: int = 1) -> str:
    return " ".join([text] * times)
```
"""


def page() -> str:
    """Return the whole page."""
    blocks = [HEAD]
    for prefix, words in FAMILIES.items():
        blocks.append(f"## {prefix}xx: {words}\n")
        blocks += [section(each) for each in RULES.values() if each.code.startswith(prefix)]
    return "\n".join(blocks)


def section(rule: Rule) -> str:
    """Return what the page says of a rule."""
    words = rule.explanation.replace("``", "`")
    remedy = remedy_of(rule.code).replace("``", "`")
    head = f"### {rule.code} {rule.name}\n\n*{rule.severity}*: {words}\n"
    head += f"\n{remedy}\n" if remedy else ""
    example, mended = example_of(rule.code), mended_example_of(rule.code)
    head += f"\n```text\n{example}\n```\n" if example else ""
    return f"{head}\nRight would be:\n\n```diff\n{mended}\n```\n" if mended else head


def example_of(code: str) -> str:
    """Return the first finding of a rule that a golden case shows; empty if none does."""
    return next((found for _, found in _examples(code)), "")


def mended_example_of(code: str) -> str:
    """Return what would be right in that case; empty if no change of files says it."""
    for case, _ in _examples(code):
        diff = case / "mended.diff"
        text = diff.read_text(encoding="utf-8", errors="replace") if diff.exists() else ""
        lines = [each for each in text.splitlines() if not each.startswith(_OF_GIT)]
        return "\n".join(lines)
    return ""


_OF_GIT = ("diff --git", "similarity index", "new file mode", "deleted file mode")


def _examples(code: str) -> Iterator[tuple[Path, str]]:
    """Yield the golden cases that show a finding of a rule, each with the first one."""
    for case in sorted(CASES.glob(f"{code}*")):
        blocks = (case / "expected.txt").read_text(encoding="utf-8").strip().split("\n\n")
        # a message may hold an empty line, so that a block without a code belongs to the one before
        found = [each for each in blocks if re.search(rf": {code} ", each.partition("\n")[0])]
        if found:
            yield case, found[0]


def main() -> None:
    """Write the page."""
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
