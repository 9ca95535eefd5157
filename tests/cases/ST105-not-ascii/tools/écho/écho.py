def écho(text: str): return text
