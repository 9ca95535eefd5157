ACTIVATION_PHRASES = ['shout', 'SAY IT']


def later(text: str):
    return text
