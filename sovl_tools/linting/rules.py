"""The table of all rules, for ``explain`` and ``--select``."""

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
    server,
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
    """A file suppresses the findings of a rule, but there aren't any.

    ``"x-ignore": ["ST306"]`` in a manifest suppresses the warnings of that rule for its tool. The
    comment ``# sovl: ignore[ST408]`` in a module or a procedure suppresses those of its line or, if
    nothing else is on the line, of its file. This one doesn't name a rule, or the rule no longer
    finds anything there, or it finds an error, which can't be suppressed because the tool doesn't
    load. Remove it, so that it doesn't hide a problem later.
    """
    yield Finding(Position(), words, "remove it, or name a rule that warns here")


FAMILIES = {
    "ST0": "sovl-tools itself, and what it is asked to omit",
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

# a rule that is missing here still reports, but explain and --select lack it
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
    schema.deprecated_argument,
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
    *server.RULES,
    *server.CHANGE_RULES,
    between.unknown_replacement,
    *formats.RULES,
)

RULES: dict[str, Rule] = {rule.code: rule for rule in sorted(_RULES, key=lambda rule: rule.code)}
"""Every rule by its code, in the order of the codes."""
