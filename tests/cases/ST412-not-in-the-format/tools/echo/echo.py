from datetime import date


def echo(day: date):
    return day
