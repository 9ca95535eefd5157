def ehco(text: str):
    return text


def other():
    return 1
