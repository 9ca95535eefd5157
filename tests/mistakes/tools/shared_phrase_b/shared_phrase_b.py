def shared_phrase_b(text: str) -> str:
    return text
