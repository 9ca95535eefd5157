ACTIVATION_PHRASE = ['say it']


def constant_misspelt(text: str) -> str:
    return text
