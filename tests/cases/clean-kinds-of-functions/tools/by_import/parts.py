def by_import(text: str):
    return text
