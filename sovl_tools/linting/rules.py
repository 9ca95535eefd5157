"""The one table of all rules: what ``explain`` prints and ``--select`` knows."""

from __future__ import annotations

from collections.abc import Iterator

from sovl_tools.loading.rules import (
    agreement,
    between,
    description,
    drift,
    folder,
    formats,
    manifest,
    module,
    offer,
    schema,
    text,
)
from sovl_tools.model.diagnostic import (
    Finding,
    Position,
    Rule,
    internal_error,
    rule,
)
from sovl_tools.procedures.rules import structure, variables


@rule("ST002", "warning")
def unused_suppression(words: str) -> Iterator[Finding]:
    """A file asks to leave out findings of a rule, and nothing is left out by that.

    ``"x-ignore": ["ST306"]`` in a manifest leaves out warnings of that rule for its tool, and the
    comment ``# sovl: ignore[ST408]`` in a module or a procedure those of its line or, where it has
    a line to itself, of its file. This one names no rule, or the rule finds nothing there any more,
    or what it finds is an error, which can't be left out because the tool is not there. Remove it,
    so that it doesn't hide what is wrong later.
    """
    yield Finding(Position(), words, "remove it, or name a rule that warns here")


FAMILIES = {
    "ST0": "sovl-tools itself, and what it is asked to leave out",
    "ST1": "the folder",
    "ST2": "the manifest",
    "ST3": "the parameter schemas",
    "ST4": "the code against the manifest",
    "ST5": "importing the module",
    "ST6": "phrases and step handlers",
    "ST7": "tools in code, and procedures",
    "ST8": "between tools",
    "ST9": "providers' formats",
}

# a rule that is missing here still finds, but explain and --select don't know it
_RULES = (
    internal_error,
    unused_suppression,
    folder.missing_directory,
    folder.invalid_folder_name,
    *folder.RULES,
    folder.no_tools,
    folder.not_as_locked,
    folder.unreadable_file,
    *text.ENCODING_RULES,
    *text.SYNTAX_RULES,
    *text.CONTENT_RULES,
    *manifest.RULES,
    *description.RULES,
    *schema.RULES,
    schema.invalid_example,
    schema.uncompilable_schema,
    schema.endless_references,
    *agreement.RULES,
    *drift.RULES,
    *module.RULES,
    *offer.RULES,
    structure.unreadable_procedure,
    *structure.DOCUMENT_RULES,
    *structure.STEP_RULES,
    *variables.RULES,
    between.duplicate_tool,
    between.shared_action,
    between.shared_phrase,
    between.shared_description,
    *formats.RULES,
)

RULES: dict[str, Rule] = {rule.code: rule for rule in sorted(_RULES, key=lambda rule: rule.code)}
"""Every rule by its code, in the order of the codes."""
