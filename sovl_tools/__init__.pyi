from sovl_tools.agent.agent import Agent as Agent
from sovl_tools.agent.errors import AgentError as AgentError
from sovl_tools.authoring.aitool import AITool as AITool
from sovl_tools.authoring.decorator import definition_of as definition_of
from sovl_tools.authoring.decorator import tool as tool
from sovl_tools.configured import default_registry as default_registry
from sovl_tools.configured import open_registry as open_registry
from sovl_tools.dispatch.hooks import hook as hook
from sovl_tools.dispatch.tooler import Tooler as Tooler
from sovl_tools.model.call import CallEvent as CallEvent
from sovl_tools.model.call import LogMessage as LogMessage
from sovl_tools.model.call import Progress as Progress
from sovl_tools.model.call import ToolCall as ToolCall
from sovl_tools.model.catalog import CatalogChange as CatalogChange
from sovl_tools.model.client_requests import Answer as Answer
from sovl_tools.model.client_requests import Approval as Approval
from sovl_tools.model.client_requests import ApprovalRequest as ApprovalRequest
from sovl_tools.model.client_requests import Question as Question
from sovl_tools.model.content import Audio as Audio
from sovl_tools.model.content import EmbeddedResource as EmbeddedResource
from sovl_tools.model.content import Image as Image
from sovl_tools.model.content import Text as Text
from sovl_tools.model.context import ToolContext as ToolContext
from sovl_tools.model.definition import ToolDefinition as ToolDefinition
from sovl_tools.model.definition import ToolParameterDefinition as ToolParameterDefinition
from sovl_tools.model.diagnostic import Diagnostic as Diagnostic
from sovl_tools.model.errors import ApprovalError as ApprovalError
from sovl_tools.model.errors import DuplicateToolError as DuplicateToolError
from sovl_tools.model.errors import ElicitationError as ElicitationError
from sovl_tools.model.errors import InferenceError as InferenceError
from sovl_tools.model.errors import RootsError as RootsError
from sovl_tools.model.errors import SamplingError as SamplingError
from sovl_tools.model.errors import SovlToolsError as SovlToolsError
from sovl_tools.model.errors import ToolError as ToolError
from sovl_tools.model.errors import ToolLoadError as ToolLoadError
from sovl_tools.model.errors import ToolNotFoundError as ToolNotFoundError
from sovl_tools.model.host import Host as Host
from sovl_tools.model.policy import Policy as Policy
from sovl_tools.model.result import Failure as Failure
from sovl_tools.model.result import ToolResult as ToolResult
from sovl_tools.procedures.manager import ProcedureManager as ProcedureManager
from sovl_tools.procedures.run.environment import StepContext as StepContext
from sovl_tools.registry import ToolRegistry as ToolRegistry
from sovl_tools.search.phrases import PhraseMatch as PhraseMatch
from sovl_tools.search.phrases import Suggestion as Suggestion
from sovl_tools.search.phrases import ToolMatch as ToolMatch

__version__: str

__all__ = [
    "AITool",
    "Agent",
    "AgentError",
    "Answer",
    "Approval",
    "ApprovalError",
    "ApprovalRequest",
    "Audio",
    "CallEvent",
    "CatalogChange",
    "Diagnostic",
    "DuplicateToolError",
    "ElicitationError",
    "EmbeddedResource",
    "Failure",
    "Host",
    "Image",
    "InferenceError",
    "LogMessage",
    "PhraseMatch",
    "Policy",
    "ProcedureManager",
    "Progress",
    "Question",
    "RootsError",
    "SamplingError",
    "SovlToolsError",
    "StepContext",
    "Suggestion",
    "Text",
    "ToolCall",
    "ToolContext",
    "ToolDefinition",
    "ToolError",
    "ToolLoadError",
    "ToolMatch",
    "ToolNotFoundError",
    "ToolParameterDefinition",
    "ToolRegistry",
    "ToolResult",
    "Tooler",
    "default_registry",
    "definition_of",
    "hook",
    "open_registry",
    "tool",
]
