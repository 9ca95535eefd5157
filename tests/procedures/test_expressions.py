from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sovl_tools.model.document import dotted
from sovl_tools.procedures.errors import EvaluationError, TemplateError
from sovl_tools.procedures.templates import Template
from tests.schema.strategies import moderate, values
from tests.tables import check_each

VARIABLES: dict[str, Any] = {
    "count": 2,
    "zero": 0,
    "text": "abc",
    "yes": True,
    "none": None,
    "ratio": 1.5,
    "page": {
        "title": "Hé",
        "links": [1, 2, 3],
        "items": 5,
        "meta": None,
        "nested": {"flags": [True, None]},
    },
    "rows": [{"key": "b", "size": 2}, {"key": "a", "size": 1}],
    "long": "y" * (1 << 20),
}


def evaluated(text: str) -> Any:
    return Template.of(text).evaluate(VARIABLES)


def failed(text: str) -> EvaluationError:
    template = Template.of(text)
    with pytest.raises(EvaluationError) as caught:
        template.evaluate(VARIABLES)
    return caught.value


def unreadable(text: str) -> TemplateError:
    with pytest.raises(TemplateError) as caught:
        Template.of(text)
    return caught.value


def described(text: str) -> str:
    references = Template.of(text).references
    return " ".join(
        dotted((each.name, *each.attributes)) + "?" * each.is_guarded for each in references
    )


@moderate
@given(values)
def test_a_value_survives_an_expression_and_is_a_copy(value: Any) -> None:
    for text in ("{{ x }}", "{{ [x][0] }}", "{{ {'k': x}['k'] }}"):
        variables = {"x": value}
        found = Template.of(text).evaluate(variables)
        assert json.dumps(found) == json.dumps(value)
        assert found is not value or not isinstance(value, list | dict)


@moderate
@given(values)
def test_in_a_text_a_value_is_printed_as_json(value: Any) -> None:
    printed = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    variables = {"x": value}
    for text in ("<{{ x }}>", "{{ '<' ~ x ~ '>' }}", "{{ ['<', x, '>'] | join }}"):
        assert Template.of(text).evaluate(variables) == f"<{printed}>"


@moderate
@given(st.text("{}%# xab'\"|.-\n", max_size=20))
def test_any_text_is_a_template_or_refused(text: str) -> None:
    error = refusal(text)
    assert error is None or "jinja" not in str(error).casefold()


def refusal(text: str) -> TemplateError | None:
    try:
        Template.of(text)
    except TemplateError as error:
        return error
    return None


@check_each(
    ("text", "value"),
    [
        ("plain", "plain"),
        ("{{ count }}", 2),
        ("{{ yes }}{{ none }}{{ ratio }}", "truenull1.5"),
        ("{{ page.nested }} x", '{"flags": [true, null]} x'),
        ("{{ page.links[-1] }}", 3),
        ("{{ range(3) }}", [0, 1, 2]),
        ("{{ 1, 'a' }}", [1, "a"]),
        ("{{ page.items }}", 5),
        ("{{ page.nested.items() }}", [["flags", [True, None]]]),
        ("{{ rows | map(attribute='key') | join(', ') }}", "b, a"),
        ("{{ [yes, none] | join('-') }}", "true-null"),
        ("{{ dict(a=1) }}", {"a": 1}),
        ("{{ text.upper() }}", "ABC"),
        ("{{ 'banana'.replace('a', 'oo') }}", "boonoonoo"),
        ("{{ count }}{{ count }}", "22"),
        ("{% raw %}{{ count }}{% endraw %}", "{{ count }}"),
        ("{{ text.center(5) }}", " abc "),
        ("{{ '%s: %5d' % (text, count) }}", "abc:     2"),
        ("{{ '{:>5}|{}'.format(text, count) }}", "  abc|2"),
        ("{{ '{x}'.format_map({'x': 1}) }}", "1"),
        ("{{ 'ab' * 2 ~ 2 * [0] }}", "abab[0, 0]"),
        ("{{ 2 ** 10 // 3 % 100 }}", 41),
        ("{{ nothing | default('d') }}", "d"),
        ("{{ page | to_json(2) }}", json.dumps(VARIABLES["page"], indent=2, ensure_ascii=False)),
        ("{% for i in page.links if i > 1 %}{{ loop.index }}{{ i }} {% endfor %}", "12 23 "),
        ("{% set n = namespace(x=1) %}{% set n.x = n.x + 1 %}{{ n.x }}", "2"),
        ("{% with a = count %}{{ a }}{% endwith %}", "2"),
        ("a{{ count }}\r\nb\n", "a2\nb\n"),
    ],
)  # fmt: skip
def test_expressions_give_values(text: str, value: Any) -> None:
    assert json.dumps(evaluated(text)) == json.dumps(value)


@check_each(
    ("text", "message"),
    [
        ("{{ zero }} {{ 1 / zero }}", "division by zero"),
        ("{{ count + text }}", "unsupported operand type(s) for +: 'int' and 'str'"),
        ("{{ count | list }}", "'int' object is not iterable"),
        ("{{ range }}", "a function isn't JSON"),
        ("{{ 'a'.translate({}) }}", "access to attribute 'translate' of 'str' object is unsafe"),
        ("{{ self }}", "a TemplateReference isn't JSON"),
        ("{{ 1e308 * 10 }}", "out of range float values are not JSON compliant"),
        ("{{ text | from_json }}", "from_json can't read the text: Expecting value: line 1"),
        ("{{ '[NaN]' | from_json }}", "from_json can't read the text: NaN is not a JSON number"),
        ("{% set text.x = 1 %}", "cannot assign attribute on non-namespace object"),
    ],
)  # fmt: skip
def test_what_has_no_value_is_told_in_one_sentence(text: str, message: str) -> None:
    error = failed(text)
    assert str(error).startswith(message)


@check_each(
    ("text", "message"),
    [
        ("{{ pages }}", "there's no variable 'pages'; did you mean 'page'?"),
        ("a\n{{ count }} {{ xyz }}", "there's no variable 'xyz'"),
        ("{{ page.lin }}", "'page' is an object and has no 'lin'; did you mean 'links'?"),
        ("{{ 1 ~ page.meta.x.y }}", "'page.meta' is null and has no 'x'"),
        ("{{ page.links[7] }}", "'page.links' is an array of length 3 and has no item 7"),
        ("{{ text.upper }}", "'text' is a string and has no 'upper'; call it: upper()"),
        ("{{ text.__class__ }}", "'text' is a string and has no '__class__'"),
        ("{{ rows | map(attribute='name') | list }}", "an object has no 'name'"),
    ],
)  # fmt: skip
def test_what_is_absent_is_named(text: str, message: str) -> None:
    error = failed(text)
    assert str(error) == message


@check_each(
    ("text", "message"),
    [
        ("{{ ''.__class__() }}", "access to attribute '__class__' of 'str' object is unsafe"),
        ("{{ ''['__class__'] }}", "a string has no '__class__'"),
        (
            "{{ '{0.__class__}'.format(1) }}",
            "access to attribute '__class__' of 'int' object is unsafe",
        ),
        ("{{ page.links.append(1) }}", "access to attribute 'append' of 'list' object is unsafe"),
        ("{{ dict.update(page, {'a': 1}) }}", "a function has no 'update'"),
        (
            "{{ range.__globals__ }}",
            "access to attribute '__globals__' of 'function' object is unsafe",
        ),
        (
            "{% for i in [1] %}{{ loop._iterator }}{% endfor %}",
            "access to attribute '_iterator' of",
        ),
    ],
)
def test_the_sandbox_has_walls(text: str, message: str) -> None:
    before = json.dumps(VARIABLES)
    error = failed(text)
    assert error.message.startswith(message) or "has no" in error.message
    assert json.dumps(VARIABLES) == before


@check_each(
    ("text", "message"),
    [
        ("{{ 'a' * 10 ** 9 }}", "the result has more than 1,048,576 characters"),
        ("{{ long + 'a' }}", "the result has more than 1,048,576 characters"),
        ("{{ long ~ 'a' }}", "the result has more than 1,048,576 characters"),
        ("a{{ long }}", "the result has more than 1,048,576 characters"),
        ("{{ [long] }}", "the result has more than 1,048,576 characters"),
        ("{{ ['a', long ~ ''] | join(long) }}", "the result has more than 1,048,576 characters"),
        ("{{ {long: 1} }}", "the result has more than 1,048,576 characters"),
        ("{{ [9 ** 4000] * 1000 }}", "the result has more than 1,048,576 characters"),
        ("{{ 'a' | center(10 ** 9) }}", "a width or precision is more than 1,000"),
        ("{{ 'a' | indent(width=10 ** 9) }}", "a width or precision is more than 1,000"),
        ("{{ [1] | batch(10 ** 9, 0) | list }}", "a width or precision is more than 1,000"),
        ("{{ [1] | slice(10 ** 9) | list }}", "a width or precision is more than 1,000"),
        ("{{ 1.5 | round(10 ** 9, 'ceil') }}", "a width or precision is more than 1,000"),
        ("{{ 'a'.ljust(10 ** 9) }}", "a width or precision is more than 1,000"),
        ("{{ [1] | to_json(10 ** 9) }}", "a width or precision is more than 1,000"),
        ("{{ '%1000000000d' % 1 }}", "a width or precision is more than 1,000"),
        ("{{ '%*d' % (10 ** 9, 1) }}", "a pattern can't take a width from its arguments"),
        ("{{ '%.00000000009999s' % 'a' }}", "a width or precision is more than 1,000"),
        ("{{ 'a'.zfill(1001) }}", "a width or precision is more than 1,000"),
        ("{{ ('\\n' * 200000) | indent(9) }}", "the result has more than 1,048,576 characters"),
        ("{{ ('{0}' * 9).format(long) }}", "the result has more than 1,048,576 characters"),
        ("{{ '%1000000000d' | format(1) }}", "a width or precision is more than 1,000"),
        ("{{ '{:{}}'.format(1, 10 ** 9) }}", "a width or precision is more than 1,000"),
        ("{{ 9 ** (9 ** 9) }}", "the number has more than 4,300 digits"),
        ("{{ 9 ** 3000 * 9 ** 9000 }}", "the number has more than 4,300 digits"),
        (
            "{{ range(100001) }}",
            "range too big. The sandbox blocks ranges larger than MAX_RANGE (100000)",
        ),
    ],
)
def test_a_few_characters_can_not_ask_for_much(text: str, message: str) -> None:
    assert failed(text).message == message


@check_each(
    "text",
    [
        "{{ 10 ** 4299 }}",
        "{{ long }}",
        "{{ 'a' | center(1000) }}",
        "{{ '12345%% of 50* %s' % 'a' }}",
    ],
)
def test_what_is_just_not_too_much_is_given(text: str) -> None:
    assert evaluated(text)


def test_what_is_only_handed_on_may_be_as_large_as_it_is() -> None:
    variables = {"x": ["y" * (1 << 21)]}
    assert Template.of("{{ x }}").evaluate(variables) == variables["x"]


@check_each(
    ("text", "message"),
    [
        ("{{ count", "'{{' is not closed; write }}"),
        ("{% if count", "'{%' is not closed; write %}"),
        ("{{ }}", "an expression is missing here"),
        ("{{ 1 + }}", "an expression is missing here"),
        ("{{ (1 2) }}", "expected token ')', got 'integer'"),
        ("a\r\n{{ ?x }}", "unexpected char '?' at 5"),
        ("{% if count %}a", "'if' is not closed; close it"),
        ("{% foo %}", "there's no tag 'foo' here"),
        ("{% include 'a' %}", "procedures have no tag 'include'"),
        ("{% macro a() %}{% endmacro %}", "procedures have no tag 'macro'"),
        ("{% for loop in rows %}{% endfor %}", "'loop' can't be the variable of a loop"),
        ("{{ text | lenght }}", "there's no filter 'lenght'; did you mean 'length'?"),
        ("{{ text | random }}", "there's no filter 'random'"),
        ("{{ text is defind }}", "there's no test 'defind'; did you mean 'defined'?"),
        ("{{ 1 if yes }}", "this 'if' has no 'else'; write its value otherwise"),
        ("{{ " + "9" * 5000 + " }}", "a number has more digits than can be read"),
        ("{{ " + "+".join("1" * 3000) + " }}", "the expression is nested too deep"),
    ],
)  # fmt: skip
def test_what_is_no_template_is_refused(text: str, message: str) -> None:
    error = unreadable(text)
    assert str(error) == message


@check_each(
    ("text", "value"),
    [("count > 1", True), (" page.links ", [1, 2, 3]), ("not\ncount", False), ("'}}'", "}}")],
)
def test_a_bare_expression_has_a_value(text: str, value: Any) -> None:
    assert Template.of_expression(text).evaluate(VARIABLES) == value


@check_each(
    ("text", "message"),
    [
        ("", "an expression is missing here"),
        (" {{ count }}", "this is a template, where a bare expression should be; remove the"),
        ("count zero", "something follows the expression"),
        ("count = 2", "something follows the expression; compare with =="),
        ("1 if yes", "this 'if' has no 'else'"),
    ],
)
def test_what_is_no_expression_is_refused(text: str, message: str) -> None:
    with pytest.raises(TemplateError) as caught:
        Template.of_expression(text)
    assert str(caught.value).startswith(message)


@check_each(
    ("text", "found"),
    [
        ("no template", ""),
        ("{{ a.b['c'][0].d }}", "a.b.c[0].d"),
        ("{{ a[true] }}", "a"),
        ("{{ a.b[c.d].e }}", "a.b c.d"),
        ("{{ a.b() ~ c.d.e(f) }}", "a c.d f"),
        ("{{ a | default(b) }}", "a? b"),
        ("{{ a.b | d(1) ~ a.b }}", "a.b? a.b"),
        ("{{ a.b is defined and a.b.c and a.d }}", "a.b? a.b.c? a.d"),
        ("{{ a if b else c }}", "a b c"),
        ("{% for x in a %}{{ x }}{{ loop.index }}{{ b }}{% endfor %}{{ x }}", "a b"),
        ("{% for x, y in a if y %}{{ x }}{% endfor %}", "a"),
        ("{% set x = x.y %}{{ x }}", ""),
        ("{% if a %}{% set x = 1 %}{% elif b %}{{ x }}{% else %}{{ x }}{% endif %}", "a b"),
        ("{% with x = a, y = x %}{{ x }}{{ y }}{% endwith %}{{ y }}", "a"),
        ("{% filter replace(a, b) %}{{ c }}{% endfilter %}", "a b c"),
        ("{% set n = namespace() %}{% set n.x = a %}{{ n.x }}", "a"),
    ],
)
def test_references_are_variables_that_are_read_and_not_bound(text: str, found: str) -> None:
    assert sorted(described(text).split()) == sorted(found.split())
