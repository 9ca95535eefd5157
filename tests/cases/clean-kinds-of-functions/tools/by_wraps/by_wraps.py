import functools


def loud(function):
    @functools.wraps(function)
    def inner(*args, **kwargs):
        return function(*args, **kwargs)

    return inner


@loud
def by_wraps(text: str):
    return text
