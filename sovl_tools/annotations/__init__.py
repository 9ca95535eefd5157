"""Python's types and JSON: schemas of annotations, instances of JSON, JSON of results.

``schemas.schema_of(annotation)`` returns the JSON Schema that an annotation implies.
``schemas.SchemaBuilder`` does so for several that share their ``$defs``.
``hints.resolved(annotation, names_of(function))`` evaluates an annotation that is text.
"""
