"""Python's types and JSON: each kind of type once, with its schema, its conversion and its wording.

A kind of type (``kind.Kind``) is two functions: ``describe`` makes a schema, ``convert`` makes what
turns JSON into instances. ``kinds.kind_of`` is the table of them; a new kind is one module and one
line there. The ways in are ``kinds.SchemaBuilder``, ``conversion.converter_of`` for a function's
keywords, ``jsonvalues.to_json`` for results and ``hints.resolved`` for annotations that are text.
"""
