"""The tool itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sovl_tools.model.document import JSON
from sovl_tools.model.interface import StepHandler


@dataclass(frozen=True, eq=False)
class ToolDefinition:
    """A tool that can be listed, exported and called.

    The names of the fields and the guide's sentences about them are in ``docs/tool-guide.md``.
    Two definitions are equal only if they are the same object: a reload makes another.

    Attributes:
        name: an ASCII identifier of at most 64 characters.
        description: what the tool does and when to use it, for the model.
        parameters: the JSON Schema (draft 2020-12) of the arguments, an object.
        function: what is called, with the arguments as keywords.
        source: the folder, module or distribution that it comes from.
        output_schema: the JSON Schema of the result, if the author gave one.
        preprocess: takes the valid arguments and returns those that the function gets.
        postprocess: takes what the function returned and returns the result.
    """

    name: str
    description: str
    parameters: dict[str, JSON]
    function: Callable[..., Any]
    title: str | None = None
    tags: tuple[str, ...] = ()
    category: str | None = None
    version: str | None = None
    instructions: str | None = None
    activation_phrases: tuple[str, ...] = ()
    examples: tuple[JSON, ...] = ()
    output_schema: dict[str, JSON] | None = None
    annotations: Mapping[str, bool] = field(default_factory=dict)
    execution: Mapping[str, JSON] = field(default_factory=dict)
    requires: Mapping[str, list[str]] = field(default_factory=dict)
    metadata: Mapping[str, JSON] = field(default_factory=dict)
    step_handlers: Mapping[str, StepHandler] = field(default_factory=dict)
    source: str = ""
    preprocess: Callable[[dict[str, Any]], Any] | None = None
    postprocess: Callable[[Any], Any] | None = None

    def __repr__(self) -> str:
        return f"<ToolDefinition {self.name!r} from {self.source or 'code'}>"

    def execute(self, **arguments: Any) -> Any:
        """Call the bare function: no validation; an awaitable if the tool is async."""
        return self.function(**arguments)

    def to_schema(self) -> dict[str, JSON]:
        """Return exactly ``{name, description, parameters}``, the neutral definition."""
        return {
            "name": self.name,
            "description": self.description,
            "parameters": self.parameters,
        }
