def open_list(text: list[str]) -> str:
    return text
