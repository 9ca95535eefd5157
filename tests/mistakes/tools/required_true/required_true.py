def required_true(text: str) -> str:
    return text
