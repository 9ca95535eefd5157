def test_prompt_with_arguments(arg1: str, arg2: str) -> str:
    return f"{arg1} {arg2}"
