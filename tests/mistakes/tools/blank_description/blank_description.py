def blank_description(text: str) -> str:
    return text
