class Speaker:
    def __call__(self, text: str):
        return text


by_object = Speaker()
