def single(kind):
    return kind()


@single
class by_instance:
    def __call__(self, text: str):
        return text
