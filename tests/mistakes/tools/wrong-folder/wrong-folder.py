def wrong_folder(text: str) -> str:
    return text
