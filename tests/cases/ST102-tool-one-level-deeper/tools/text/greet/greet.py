def greet():
    return 'hello'
