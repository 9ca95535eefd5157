def misspelt_type(text: str) -> str:
    return text
