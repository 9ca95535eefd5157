"""What reads JSON Schema (draft 2020-12), whoever wrote it: lookup of references, and merging."""
