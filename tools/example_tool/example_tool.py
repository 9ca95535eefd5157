"""The smallest tool: it adds two numbers, and says on standard output what it is doing."""


def example_tool(number1: int, number2: int) -> dict[str, object]:
    """Return the sum of two whole numbers, and a sentence that says it.

    The printed line is there on purpose: what a tool prints must not mix with what it returns.
    """
    print(f"example_tool is adding {number1} and {number2}")
    total = number1 + number2
    return {"result": total, "message": f"The sum of {number1} and {number2} is {total}."}
