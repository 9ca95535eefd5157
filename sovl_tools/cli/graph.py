"""``sovl-tools graph``."""

from __future__ import annotations

import click

from sovl_tools.cli.command import FINDINGS, Command, format_option, output_option
from sovl_tools.cli.load_procedures import print_diagnostics, with_procedures_it_runs
from sovl_tools.cli.output import write_to
from sovl_tools.procedures.outline import mermaid, svg

EXAMPLES = """\b
Examples:
  sovl-tools graph weekly_report.yaml
  sovl-tools graph weekly_report.yaml --format svg -o weekly_report.svg"""
EXITS = {
    1: "The file is no procedure.",
}

FORMATS = {"mermaid": mermaid, "svg": svg}
"""What draws a procedure, by the name of the format."""


@click.command(cls=Command, epilog=EXAMPLES, exits=EXITS)
@click.argument("file", type=click.Path())
@format_option(*FORMATS)
@output_option
@click.pass_context
def graph(ctx: click.Context, *, file: str, format_: str, output: str | None) -> None:
    """Draw the steps of a procedure, as a flowchart of Mermaid or as an SVG image.

    The file alone is looked at, and no tool.
    """
    found = with_procedures_it_runs(file)[0]
    if found.procedure is None:
        print_diagnostics(found.diagnostics(found.verdicts))
        ctx.exit(FINDINGS)
    write_to(output, FORMATS[format_](found.procedure))
