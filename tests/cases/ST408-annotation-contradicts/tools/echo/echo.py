def echo(text: int, volume: 'int | None' = None, tags: dict[str, int] | None = None):
    return text
