"""``sovl-tools explain`` and ``schema``: the rules, and the published schemas."""

from __future__ import annotations

import re

import click

from sovl_tools.cli.command import Command
from sovl_tools.cli.output import results, show, write
from sovl_tools.linting.fixes import remedy_of
from sovl_tools.linting.rules import FAMILIES, RULES
from sovl_tools.linting.selection import code_of
from sovl_tools.model.diagnostic import Rule
from sovl_tools.model.documentation import rule_page
from sovl_tools.schema.engine import PUBLISHED, schema_text

EXAMPLES = """\b
Examples:
  sovl-tools explain ST402
  sovl-tools explain ST4        lists the rules of a family
  sovl-tools explain            lists all rules"""


@click.command(cls=Command, epilog=EXAMPLES, exits={2: "The rule is unknown."})
@click.argument("selector", required=False, metavar="[RULE]")
def explain(*, selector: str | None) -> None:
    """Explain a rule: its findings, their consequences, and the fix.

    RULE is the code of a rule, its name, or the beginning of codes.
    """
    if selector is None:
        lines: list[str] = []
        for prefix, name in FAMILIES.items():
            lines += ["", f"{prefix}xx {name}"] if lines else [f"{prefix}xx {name}"]
            lines += [f"  {_line(each)}" for each in RULES.values() if each.code.startswith(prefix)]
        show("\n".join(lines))
        return
    code = code_of(selector)
    rule = RULES.get(code)
    if rule is None:
        show("\n".join(_line(each) for each in RULES.values() if each.code.startswith(code)))
        return
    name = f"Its name, which selects it too, is {rule.name}."
    if page := rule_page(code):
        name += f"\n\nMore: {page}"
    remedy = f"\n\n{remedy_of(code)}" if remedy_of(code) else ""
    words = f"{code} ({rule.severity}): {rule.explanation}{remedy}\n\n{name}"
    if results().isatty():  # the lines of a docstring are wrapped already, for another width
        words = re.sub(r"(?<=\S)\n(?=[^\s*-])", " ", words)
    show(words.replace("``", "`"))


def _line(rule: Rule) -> str:
    return f"{rule.code}  {rule.severity:7}  {rule.title} ({rule.name})".replace("``", "`")


SCHEMA_EXAMPLES = """\b
Examples:
  sovl-tools schema tool > tool.schema.json      for "$schema" in a manifest"""


@click.command(cls=Command, epilog=SCHEMA_EXAMPLES)
@click.argument("name", type=click.Choice(PUBLISHED), default="tool")
def schema(*, name: str) -> None:
    """Print a published JSON Schema.

    It describes manifests (tool), procedures (procedure) or the table in pyproject.toml (config).
    """
    write(schema_text(name).rstrip("\n"))
