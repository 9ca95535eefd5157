"""Python's types and JSON: each kind of type once, with its schema, its reading and its wording.

Entry points:

- ``schemas.schema_of(annotation)`` returns the JSON Schema that an annotation implies;
  ``schemas.SchemaBuilder`` does so for several that share their ``$defs``.
- ``conversion.converter_of(function, names)`` returns what makes instances of the annotated types
  of a function's keywords; None if JSON's values are what it wants.
- ``jsonvalues.to_json(value)`` returns what a function returned as JSON.
- ``hints.resolved(annotation, names_of(function))`` evaluates an annotation that is text.

A kind of type (``kind.Kind``) is two functions: ``describe`` makes a schema, ``convert`` makes
what reads its values. ``kinds.kind_of`` is the table of them; a new kind is one module and one
line there.
"""
