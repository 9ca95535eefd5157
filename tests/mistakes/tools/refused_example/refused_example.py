def refused_example(text: str) -> str:
    return text
