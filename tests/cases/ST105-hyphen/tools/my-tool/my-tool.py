def my_tool(text): return text
