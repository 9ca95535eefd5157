def echo(text: str, apiKey: str = '', max_token: int = 1):
    return text
