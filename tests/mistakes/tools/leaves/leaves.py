import sys


def leaves(text: str) -> str:
    return text


sys.exit(3)
