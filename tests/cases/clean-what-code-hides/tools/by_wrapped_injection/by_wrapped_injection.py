import functools


def with_prefix(function):
    @functools.wraps(function)
    def inner(*, count=1, **arguments):
        return function('a' * count, **arguments)

    return inner


@with_prefix
def by_wrapped_injection(prefix, text: str):
    return prefix + text
