def echo(text: str, tone: str, nullable: str) -> str:
    return text
