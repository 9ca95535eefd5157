def test_custom_headers(region: str) -> str:
    return region
