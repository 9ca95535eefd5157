import os
import surely_not_installed.part


def echo(text: str):
    return text
