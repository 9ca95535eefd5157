def say(step, context):
    return 1


STEP_HANDLERS = {'say': say}


def later(text: str):
    return text
