def wrong_default(text: str = "") -> str:
    return text
