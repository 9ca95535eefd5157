import sys

if sys.version_info >= (3,):
    def by_branch(text: str):
        return text
else:
    def by_branch(words):
        return words
