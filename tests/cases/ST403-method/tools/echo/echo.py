def echo(self, text: str):
    return text
