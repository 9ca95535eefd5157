def delete_note(text: str):
    return text
