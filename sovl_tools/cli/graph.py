"""``sovl-tools graph``."""

from __future__ import annotations

import click

from sovl_tools.cli.command import FINDINGS, Command, format_option, output_option
from sovl_tools.cli.output import write_to
from sovl_tools.cli.procedures import reached, tell
from sovl_tools.procedures.flowchart import mermaid, svg

EXAMPLES = """\b
Examples:
  sovl-tools graph weekly_report.yaml
  sovl-tools graph weekly_report.yaml --format svg -o weekly_report.svg"""

FORMATS = {"mermaid": mermaid, "svg": svg}
"""What draws a procedure, by the name of the format."""


@click.command(cls=Command, epilog=EXAMPLES)
@click.argument("file", type=click.Path())
@format_option(*FORMATS)
@output_option
@click.pass_context
def graph(ctx: click.Context, *, file: str, format_: str, output: str | None) -> None:
    """Draw the steps of a procedure, as a flowchart of Mermaid or as an SVG image.

    The file alone is looked at, and no tool. Exits with 1 if it is no procedure.
    """
    found = reached(file)[0]
    if found.procedure is None:
        tell(found.diagnostics(found.verdicts))
        ctx.exit(FINDINGS)
    write_to(output, FORMATS[format_](found.procedure))
