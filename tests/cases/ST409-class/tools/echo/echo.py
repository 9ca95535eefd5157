class echo:
    def __init__(self, text):
        self.text = text
