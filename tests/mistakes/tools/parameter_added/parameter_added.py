def parameter_added(text: str, times: int) -> str:
    return text
