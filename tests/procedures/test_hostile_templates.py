"""Whatever a template says takes a bounded amount of memory, and ends in a value or one error."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sovl_tools.procedures.errors import EvaluationError, TemplateError
from sovl_tools.procedures.templates import Template
from sovl_tools.procedures.templates.sandbox import MAX_MADE
from tests.schema.strategies import examples, moderate
from tests.tables import check_each

resource = pytest.importorskip("resource", reason="there is none on Windows")

LONG = "x" * 1_000_000
VARIABLES = {
    "long": LONG,
    "rows": [LONG] * 100,
    "many": ["ab"] * 20_000,
    "deep": [[[LONG] * 9] * 9] * 9,
}
PIECES = [
    "long", "rows", "many", "deep", "1000000", "99999", "'%s'", "'%(a)s'", "'{0}'", "{'a': long}",
    "range(100000)", "[long]", "[]", "'\\t'", "(long, rows)",
]  # fmt: skip
WAYS = [
    "{0} * {1}", "{0} + {1}", "{0} ~ {1} ~ {0}", "{0} % {1}", "({0} * 1000) % {1}", "{0}[:]",
    "{0} | join({1})", "{0}.join({1})", "{0} | replace('x', {1})", "{0}.replace('x', {1})",
    "{0} | indent({1}, true, true)", "{0} | wordwrap(1, true, {1})", "{0} | center({1})",
    "{0}.expandtabs({1})", "{0}.zfill({1})", "{0} | tojson({1})", "{0} | format({1}, a={1})",
    "({0} * 1000).format({1})", "{0} | sum(start=[])", "{0} | sum(start={1})", "[{0}] * 1000",
    "{0} | map('upper') | list", "{0} | map('list') | list", "{0} | batch({1}, {0}) | list",
    "{0} | slice({1}) | map('list') | list", "{0} | groupby(0) | list", "{0}.split()", "{0} | list",
    "{0} | from_json", "{0} | string", "{0} | round({1}, 'ceil')", "{0} ** {1}",
    "{0} | unique | list", "{0} | map('tojson', {1}) | list", "{0} | map('format', {1}) | list",
    "{0}.encode('utf-32')",
    "{0}.to_bytes({1})", "{0} | truncate({1}, true, {1})", "{0} | sort", "dict(a={0}, b={1})",
]  # fmt: skip
LOOP = "{{% for i in range(100000) %}}"
END = "{{% endfor %}}"
BLOCKS = [
    "{{{{ {0} }}}}",
    f"{{{{% set x %}}}}{LOOP}{{{{{{{{ {{0}} }}}}}}}}{END}{{{{% endset %}}}}{{{{{{{{ x }}}}}}}}",
    f"{{{{% set n = namespace(x=[]) %}}}}{LOOP}{{{{% set n.x = n.x + [{{0}}] %}}}}{END}",
    f"{{{{% set n = namespace(x='a') %}}}}{LOOP}{{{{% set n.x = [n.x, {{0}}] %}}}}{END}",
    "{{% for i in [1] recursive %}}{{{{ {0} }}}}{{{{ loop([1] * 10) }}}}{{% endfor %}}",
    f"{{{{% filter upper %}}}}{LOOP}{LOOP}{{0}}{END}{END}{{{{% endfilter %}}}}",
]
EXPRESSIONS = st.recursive(
    st.sampled_from(PIECES),
    lambda inner: st.builds(
        lambda way, *parts: f"({way.format(*parts)})", st.sampled_from(WAYS), inner, inner
    ),
    max_leaves=4,
)


def peak() -> int:
    """Return how much memory this process has ever had, in bytes."""
    return int(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss) << 10


def outcome(text: str) -> str:
    """Return the beginning of a text, and of other values no more than the type: these are huge."""
    try:
        value = Template.of(text).evaluate(VARIABLES)
    except (EvaluationError, TemplateError) as error:
        return str(error)
    return value[:100] if isinstance(value, str) else type(value).__name__


@settings(moderate, max_examples=examples(100), suppress_health_check=list(HealthCheck))
@given(st.builds(str.format, st.sampled_from(BLOCKS), EXPRESSIONS))
def test_whatever_a_template_says_its_memory_is_bounded(text: str) -> None:
    before = peak()
    found = outcome(text)
    assert len(found) < 500
    assert peak() - before < 3 * MAX_MADE


@pytest.mark.unmeasured
@check_each("way", WAYS)
def test_no_way_to_make_much_is_open(way: str) -> None:
    before = peak()
    for first, second in (("rows", "long"), ("many", "long"), ("'%s'", "rows"), ("many", "9")):
        assert len(outcome(BLOCKS[0].format(way.format(first, second)))) < 500
    assert peak() - before < 3 * MAX_MADE


@pytest.mark.unmeasured
@pytest.mark.parametrize("block", BLOCKS[1:])
def test_what_a_loop_gathers_is_bounded(block: str) -> None:
    before = peak()
    words = ("has more than 1,048,576 characters", "makes more than 128 MB on its way")
    assert outcome(block.format("long ~ long[0:40000]")).endswith((*words, "nested too deep"))
    assert peak() - before < 3 * MAX_MADE
