"""What other systems call the parts of a tool's definition."""

from __future__ import annotations

PARAMETERS = (
    "parameters", "input_schema", "inputSchema", "parametersJsonSchema", "parameters_json_schema",
    "args_schema", "parameter_definitions", "parameterDefinitions", "args", "arguments", "inputs",
    "params",
)  # fmt: skip
"""Keys with the arguments: a JSON Schema, a map by name, or a list of parameters."""

WRAPPERS = {
    "function": "OpenAI",
    "tools": "MCP",
    "functionDeclarations": "Gemini",
    "function_declarations": "Gemini",
    "toolSpec": "Bedrock",
    "toolConfig": "Bedrock",
}
"""Keys with a definition or a list of them, and the systems."""

TYPES = {
    "str": "string", "text": "string", "int": "integer", "long": "integer", "float": "number",
    "double": "number", "decimal": "number", "bool": "boolean", "list": "array", "tuple": "array",
    "dict": "object", "map": "object", "none": "null",
}  # fmt: skip
"""Types of other languages, in lower case, and JSON's types for them."""
