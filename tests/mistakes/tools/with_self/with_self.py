def with_self(self, text: str) -> str:
    return text
