from sovl_tools.model.definition import ToolDefinition as ToolDefinition
from sovl_tools.model.diagnostic import Diagnostic as Diagnostic
from sovl_tools.model.errors import SovlToolsError as SovlToolsError
from sovl_tools.model.errors import ToolError as ToolError
from sovl_tools.model.errors import ToolLoadError as ToolLoadError
from sovl_tools.model.errors import ToolNotFoundError as ToolNotFoundError
from sovl_tools.model.result import ToolResult as ToolResult
from sovl_tools.registry import ToolRegistry as ToolRegistry
from sovl_tools.running.tooler import Tooler as Tooler
from sovl_tools.search.phrases import PhraseMatch as PhraseMatch

__version__: str
