def wrong_name(text: str) -> str:
    return text
