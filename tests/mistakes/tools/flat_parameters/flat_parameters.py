def flat_parameters(text: str) -> str:
    return text
