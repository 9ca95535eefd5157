def healthy(text: str) -> str:
    return text
