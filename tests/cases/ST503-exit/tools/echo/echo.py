def echo(text: str):
    return text


import sys

sys.exit(3)
