def fetch(url: str, limit: int = 1000) -> dict[str, object]:
    return {"text": url[:limit], "links": []}
