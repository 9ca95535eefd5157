ACTIVATION_PHRASE = ['say it']


def shout(step, context):
    return step


STEP_HANDLERs = {'shout': shout}


def register_step_handler(handlers):
    handlers['shout'] = shout


def echo(text: str):
    return text
