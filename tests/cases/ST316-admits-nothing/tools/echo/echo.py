def echo(text, color=None, size=None, place=None):
    return text
