from echo.words import WORDS


def echo():
    return WORDS
