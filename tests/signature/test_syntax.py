from __future__ import annotations

from sovl_tools.model.diagnostic import ModulePlace
from sovl_tools.signature.syntax_tree import place_of
from tests.tables import check_each

ECHO = ModulePlace("echo")
TEXT = ModulePlace("echo", "text")
SECOND = ModulePlace("PHRASES", item=1)
GREET = ModulePlace("HANDLERS", item="grüß")


def unmarked(source: str) -> tuple[str, tuple[int, int]]:
    """Return a source without its mark ``»``, and line and column of the mark."""
    before, _, after = source.partition("»")
    lines = before.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return before + after, (len(lines), len(lines[-1]) + 1)


@check_each(
    ("source", "place"),
    [
        ("def »echo(): ...", ECHO),
        ("async def »echo(): ...", ECHO),
        ("@decorated\n@twice()\ndef »echo(): ...", ECHO),
        ("»echo = 5", ECHO),
        ("»echo: int = 5", ECHO),
        ("import »echo", ECHO),
        ("from os import sep, »path as echo", ECHO),
        ("if True:\n    def »echo(): ...", ECHO),
        ("try: ...\nexcept ValueError:\n    def »echo(): ...", ECHO),
        ("def echo(): ...\ndef »echo(): ...", ECHO),
        ("def echo(»text): ...", TEXT),
        ("def echo(\n    *,\n    »text: str = '',\n): ...", TEXT),
        ("echo = lambda »text: text", TEXT),
        ("def _impl(»text): ...\necho = _impl", TEXT),
        ("def »echo(count): ...", TEXT),
        ("PHRASES = ['a', »'b']", SECOND),
        ("PHRASES = ('a', »'b')", SECOND),
        ("PHRASES: list[str] = [\n    'a',\n    »5,\n]", SECOND),
        ("»PHRASES = ['a']", SECOND),
        ("HANDLERS = {'a': f, »'grüß': f}", GREET),
        ("»other = 5", ModulePlace("HANDLERS", item="a", otherwise="other")),
        ("»x = 5", ECHO),
        ("»x = 5", ModulePlace()),
    ],
)
def test_a_place_is_found_in_the_source(source: str, place: ModulePlace) -> None:
    text, position = unmarked(source)
    assert place_of(text.encode(), place) == position
