def shout(text: str):
    return text
