def raises_at_import(text: str) -> str:
    return text


raise ValueError('not today')
