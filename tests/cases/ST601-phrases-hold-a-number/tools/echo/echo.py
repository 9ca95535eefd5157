ACTIVATION_PHRASES = ['say it', 5]


def echo(text: str):
    return text
