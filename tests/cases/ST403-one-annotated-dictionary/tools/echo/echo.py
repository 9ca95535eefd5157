def echo(what: dict[str, object]):
    return what['text']
