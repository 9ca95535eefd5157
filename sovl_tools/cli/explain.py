"""``sovl-tools explain``."""

from __future__ import annotations

import click

from sovl_tools.cli.command import Command, Misuse
from sovl_tools.cli.output import write
from sovl_tools.model.diagnostic import Rule
from sovl_tools.model.suggestion import did_you_mean
from sovl_tools.rules import FAMILIES, RULES

EXAMPLES = """\b
Examples:
  sovl-tools explain ST402
  sovl-tools explain ST4        lists the codes of a family
  sovl-tools explain            lists all codes"""
EXITS = {
    2: "There is no such code.",
}


@click.command(cls=Command, epilog=EXAMPLES, exits=EXITS)
@click.argument("code", required=False)
def explain(*, code: str | None) -> None:
    """Explain a diagnostic code: what it finds, why that hurts, and what to do."""
    if code is None:
        lines: list[str] = []
        for prefix, name in FAMILIES.items():
            lines += ["", f"{prefix}xx {name}"] if lines else [f"{prefix}xx {name}"]
            lines += [f"  {_line(each)}" for each in RULES.values() if each.code.startswith(prefix)]
        write("\n".join(lines))
        return
    rule = RULES.get(code.upper())
    family = [each for each in RULES.values() if each.code.startswith(code.upper())]
    if rule is None and family:
        write("\n".join(map(_line, family)))
        return
    if rule is None:
        hint = did_you_mean(code.upper(), RULES) or "sovl-tools explain lists the codes"
        raise Misuse(f"there is no code {code!r}; {hint}")
    write(f"{rule.code} ({rule.severity}): {rule.explanation}".replace("``", "`"))


def _line(rule: Rule) -> str:
    return f"{rule.code}  {rule.severity:7}  {rule.title}".replace("``", "`")
