def with_prefix(function):
    def inner(**arguments):
        return function('a', **arguments)

    return inner


@with_prefix
def by_injection(prefix, text: str):
    return prefix + text
