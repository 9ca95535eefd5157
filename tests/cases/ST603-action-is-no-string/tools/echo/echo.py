STEP_HANDLERS = {5: lambda step, context: 1, ' ': lambda step, context: 2}


def echo(text: str):
    return text
