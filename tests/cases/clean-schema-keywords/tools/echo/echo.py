def echo(text: str, choice=None, tree: dict | None = None):
    return text
