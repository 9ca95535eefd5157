"""Which findings can be mended; what mends them is imported for these alone."""

from __future__ import annotations

FIXERS = {
    "ST002": "idle_suppression",
    "ST201": "strict_json",
    "ST204": "without_mark",
    "ST202": "misspelt_manifest_key",
    "ST209": "missing_key",
    "ST211": "name_of_folder",
    "ST212": "name_of_folder",
    "ST215": "lifted_form",
    "ST301": "valid_schema",
    "ST302": "required_name",
    "ST305": "items_of_any_kind",
    "ST308": "misspelt_keyword",
}
"""What mends the findings of a rule, by its code: a function of ``fixes``."""

DRIFT = frozenset({"ST302", "ST305", "ST306", "ST307", "ST403", "ST408", "ST412"})
"""Findings that bringing the manifest into line with the function may mend."""
BEHIND = "ST413"
"""The finding that it surely mends; what is left out may be meant so."""
