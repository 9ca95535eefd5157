def form_of_openai(text: str) -> str:
    return text
