def trailing_comma(text: str) -> str:
    return text
