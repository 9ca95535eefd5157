def echo():
    return "hello"
