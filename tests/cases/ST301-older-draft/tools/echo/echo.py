def echo(a=None, b=None):
    return a
