def say(step, context):
    return 1


def register_step_handlers(handlers):
    handlers['say'] = say


def later(text: str):
    return text
