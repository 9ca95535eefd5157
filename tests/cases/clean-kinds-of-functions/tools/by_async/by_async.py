async def by_async(text: str):
    return text
