def echo(end=None, count=None, slashes=None, letters=None, email=None):
    return None
