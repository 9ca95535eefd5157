STEP_HANDLERS = ['say']


def echo(text: str):
    return text
