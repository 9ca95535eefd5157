"""Turns a folder into a tool that a language model can call.

The public names are imported when they are first used, so that ``import sovl_tools`` costs
hardly any time.
"""

from importlib import import_module

__version__ = "1.0.0rc1"

_PUBLIC = {
    "AITool": "sovl_tools.authoring.aitool",
    "Agent": "sovl_tools.agent.agent",
    "AgentError": "sovl_tools.agent.errors",
    "Answer": "sovl_tools.model.client_requests",
    "Approval": "sovl_tools.model.client_requests",
    "ApprovalError": "sovl_tools.model.errors",
    "ApprovalRequest": "sovl_tools.model.client_requests",
    "Audio": "sovl_tools.model.content",
    "CallEvent": "sovl_tools.model.call",
    "CatalogChange": "sovl_tools.model.catalog",
    "Diagnostic": "sovl_tools.model.diagnostic",
    "DuplicateToolError": "sovl_tools.model.errors",
    "ElicitationError": "sovl_tools.model.errors",
    "EmbeddedResource": "sovl_tools.model.content",
    "Failure": "sovl_tools.model.result",
    "Host": "sovl_tools.model.host",
    "Image": "sovl_tools.model.content",
    "InferenceError": "sovl_tools.model.errors",
    "LogMessage": "sovl_tools.model.call",
    "PhraseMatch": "sovl_tools.search.phrases",
    "Policy": "sovl_tools.model.policy",
    "ProcedureManager": "sovl_tools.procedures.manager",
    "Progress": "sovl_tools.model.call",
    "Question": "sovl_tools.model.client_requests",
    "RootsError": "sovl_tools.model.errors",
    "SamplingError": "sovl_tools.model.errors",
    "SovlToolsError": "sovl_tools.model.errors",
    "StepContext": "sovl_tools.procedures.run.environment",
    "Suggestion": "sovl_tools.search.phrases",
    "Text": "sovl_tools.model.content",
    "ToolCall": "sovl_tools.model.call",
    "ToolContext": "sovl_tools.model.context",
    "ToolDefinition": "sovl_tools.model.definition",
    "ToolError": "sovl_tools.model.errors",
    "ToolLoadError": "sovl_tools.model.errors",
    "ToolMatch": "sovl_tools.search.phrases",
    "ToolNotFoundError": "sovl_tools.model.errors",
    "ToolParameterDefinition": "sovl_tools.model.definition",
    "ToolRegistry": "sovl_tools.registry",
    "ToolResult": "sovl_tools.model.result",
    "Tooler": "sovl_tools.dispatch.tooler",
    "default_registry": "sovl_tools.configured",
    "definition_of": "sovl_tools.authoring.decorator",
    "hook": "sovl_tools.dispatch.hooks",
    "open_registry": "sovl_tools.configured",
    "tool": "sovl_tools.authoring.decorator",
}

__all__ = [*_PUBLIC]  # noqa: PLE0604 - the names of the table


def __getattr__(name: str) -> object:
    module = _PUBLIC.get(name)
    if module is None:
        import_module("sovl_tools.model.former_names").refuse_attribute(__name__, name)
    value = globals()[name] = getattr(import_module(module), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_PUBLIC})
