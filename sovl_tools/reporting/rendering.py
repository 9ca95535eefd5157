"""The one table of formats in which a validation is shown, and the way into each."""

from __future__ import annotations

from importlib import import_module

from sovl_tools.reporting.outcome import Outcome

FORMATS = {
    "text": "sovl_tools.reporting.text",
    "concise": "sovl_tools.reporting.concise",
    "json": "sovl_tools.reporting.document",
    "github": "sovl_tools.reporting.github",
    "sarif": "sovl_tools.reporting.sarif",
}


def render(outcome: Outcome, format: str) -> str:  # noqa: A002 - the field's word
    """Return the outcome of a validation in one of ``FORMATS``, without a final newline."""
    text: str = import_module(FORMATS[format]).render(outcome)
    return text
