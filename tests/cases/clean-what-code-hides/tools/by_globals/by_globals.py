def make(name):
    def made(text: str):
        return text

    globals()[name] = made


make('by_globals')
