"""A tool that is a class, because it remembers something."""

from typing import Any, ClassVar

from sovl_tools import AITool


class Glossary(AITool):
    """Explains the words of a house; the schema lists those that it knows."""

    name = "explain_term"
    description = "Say what a word of ours means."
    category = "knowledge"
    tags = ("words",)
    language = "en"
    parameters_schema: ClassVar[dict[str, Any]] = {
        "type": "object",
        "properties": {
            "term": {
                "type": "string",
                "description": "The word.",
                "enum": lambda glossary: sorted(glossary.terms),
            },
        },
        "required": ["term"],
    }

    def __init__(self) -> None:
        self.terms = {"manifest": "What a tool says of itself.", "registry": "Tools by name."}

    def execute(self, term: str) -> str:
        """Look it up."""
        return self.terms[term]

    def get_ai_prompt_instructions(self) -> str:
        """Tell the model to speak as the house does."""
        return "Use the words of the house as explain_term explains them."
