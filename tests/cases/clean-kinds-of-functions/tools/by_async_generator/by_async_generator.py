async def by_async_generator(text: str):
    yield text
