def shared_phrase_a(text: str) -> str:
    return text
