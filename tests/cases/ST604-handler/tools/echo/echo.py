def say(step):
    return step


def greet(step, context, more):
    return step


def fine(step, context=None, *, extra=1):
    return step


STEP_HANDLERS = {'say': say, 'greet': greet, 'fine': fine, 'value': 5}


def echo(text: str):
    return text
