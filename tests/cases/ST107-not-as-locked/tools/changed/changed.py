def changed(text: str) -> str:
    return text.upper()
