def both(text: str) -> str:
    return text.upper()
