def bad_syntax(text: str -> str:
    return text
