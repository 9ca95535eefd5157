def parameter_renamed(words: str) -> str:
    return words
