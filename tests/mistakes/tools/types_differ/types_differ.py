def types_differ(text: int) -> str:
    return str(text)
