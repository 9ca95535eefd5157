"""The pipeline: from a path to a tool that can be called.

path → ToolFolder → Manifest → Interface → ToolDefinition; each step is one function in one
module, and after each step the checks for that shape run.
"""
