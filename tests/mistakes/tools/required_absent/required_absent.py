def required_absent(text: str) -> str:
    return text
