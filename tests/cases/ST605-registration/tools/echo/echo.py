def register_step_handlers():
    return None


def echo(text: str):
    return text
