import there_is_no_such_module


def module_lost(text: str) -> str:
    return text
