"""Whatever data a template is given, it takes a bounded amount of memory."""

from __future__ import annotations

from contextlib import suppress

import pytest

from sovl_tools.procedures.errors import EvaluationError
from sovl_tools.procedures.templates import Template
from tests.tables import check_each

resource = pytest.importorskip("resource", reason="there isn't one on Windows")

MAX_MADE = 256 << 20
LONG = "x\n" * 50_000
NUMBERS = [-(10**9), 2, 999, 1000, 9_999, 10**5, 10**6, 10**9, 10**30]
TEXTS = ["a", "%s", "%(a)s", "{0}", "%.09999999s", "%999999999d", "{0:999999999}", LONG]
WAYS = [
    "text * number", "[text] * number", "range(number) | list", "number ** number", "text % text",
    "number * number", "number ** 3", "text | center(number)", "text.center(number)",
    "text.ljust(number)", "text.rjust(number)", "text.zfill(number)", "text | indent(number)",
    "text | indent(number, true, true)", "text | indent(text)", "text | wordwrap(number)",
    "text | wordwrap(9, true, text)", "text | truncate(number)", "[text] | batch(number, 0) | list",
    "[text] | slice(number) | list", "1.5 | round(number)", "1.5 | round(number, 'ceil')",
    "[text] | tojson(number)", "text | format(text, a=text)", "(text * 9) % text",
    "(text * 9) % {'a': text}", "('%' ~ number ~ 'd') % 1", "('%.' ~ number ~ 'f') % 1",
    "'%*d' % (number, 1)", "('{:' ~ number ~ '}').format(1)", "'{:{}}'.format(1, number)",
    "'{:.{}f}'.format(1, number)", "(text * 9).format(text)", "text | replace('x', text)",
    "text.replace('x', text)", "text.join(text)", "text | join(text)", "text ~ text ~ text",
    "text.expandtabs(number)", "number.to_bytes(number)", "text.encode('utf-32')",
    "range(99999) | map('center', number) | list | length",
]  # fmt: skip


def peak() -> int:
    """Return the most memory that this process has had, in bytes."""
    return int(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss) << 10


def check(way: str, text: str, number: int) -> None:
    before = peak()
    with suppress(EvaluationError):
        Template.of(f"{{{{ {way} }}}}").evaluate({"text": text, "number": number})
    assert peak() - before < MAX_MADE


@pytest.mark.unmeasured
@check_each("way", WAYS)
def test_no_way_lets_a_number_or_a_text_make_much(way: str) -> None:
    for number in NUMBERS:
        check(way, LONG, number)
        check(way, "a", number)
