from functools import partial


def _say(prefix, text: str):
    return prefix + text


by_partial = partial(_say, 'a')
