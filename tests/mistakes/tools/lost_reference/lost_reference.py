def lost_reference(text: str) -> str:
    return text
