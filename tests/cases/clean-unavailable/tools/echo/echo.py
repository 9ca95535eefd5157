import surely_not_installed


def echo(text: str):
    return text
