def positional_only(text: str, /) -> str:
    return text
