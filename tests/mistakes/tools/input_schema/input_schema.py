def input_schema(text: str) -> str:
    return text
