def by_generator(text: str):
    yield text
    yield text
