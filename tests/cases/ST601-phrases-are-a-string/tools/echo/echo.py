ACTIVATION_PHRASES = 'say it'


def echo(text: str):
    return text
