def echo(a=None, b=None, c=None, d=None):
    return a
