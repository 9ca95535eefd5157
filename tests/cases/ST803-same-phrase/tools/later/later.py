def later(text: str):
    return text
