def test_simple_prompt() -> str:
    return "simple"
