def phrases_misspelt(text: str) -> str:
    return text
