"""What reads JSON Schema (draft 2020-12): references, merging, whether a value matches."""
