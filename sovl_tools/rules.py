"""The one table of all codes: what ``explain`` prints and ``--select`` knows."""

from __future__ import annotations

from sovl_tools.loading.rules import (
    agreement,
    between,
    code,
    folder,
    formats,
    manifest,
    module,
    offer,
    schema,
    text,
)
from sovl_tools.model.diagnostic import Rule, internal_error
from sovl_tools.procedures.parse import library as procedure_documents
from sovl_tools.procedures.rules import document

FAMILIES = {
    "ST0": "sovl-tools itself",
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
    folder.missing_directory,
    folder.unfit_name,
    *folder.RULES,
    folder.no_tools,
    folder.unreadable,
    *text.ENCODING_RULES,
    *text.SYNTAX_RULES,
    *text.CONTENT_RULES,
    *manifest.RULES,
    *schema.RULES,
    schema.refused_example,
    schema.uncompilable,
    schema.endless_expansion,
    *agreement.RULES,
    module.import_failed,
    module.syntax_error,
    module.import_exited,
    module.import_stalled,
    module.import_crashed,
    module.import_flooded,
    module.plain_sibling_import,
    *offer.RULES,
    *code.RULES,
    document.unreadable,
    *document.DOCUMENT_RULES,
    *procedure_documents.RULES,
    between.duplicate_tool,
    between.same_action,
    between.same_phrase,
    *formats.RULES,
)

RULES: dict[str, Rule] = {rule.code: rule for rule in sorted(_RULES, key=lambda rule: rule.code)}
"""Every rule by its code, in the order of the codes."""
