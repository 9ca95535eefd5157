def misspelt_key(text: str) -> str:
    return text
