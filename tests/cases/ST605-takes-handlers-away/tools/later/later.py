def register_step_handlers(handlers):
    handlers.clear()


def later(text: str):
    return text
