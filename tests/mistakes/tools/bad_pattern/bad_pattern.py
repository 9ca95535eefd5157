def bad_pattern(text: str) -> str:
    return text
