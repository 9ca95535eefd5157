from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sovl_tools.loading.checks.agreement import RULES, AgreementCase, agrees
from sovl_tools.model.diagnostic import ask
from sovl_tools.model.interface import (
    REQUIRED,
    UNKNOWN,
    Annotation,
    Interface,
    Parameter,
    ParameterKind,
    Shape,
    Signature,
)
from sovl_tools.model.manifest import Manifest
from tests.validation.strategies import TYPES, moderate

NAMES = ("text", "count", "flag")
KINDS: list[ParameterKind] = ["positional_or_keyword", "positional_or_keyword", "keyword_only"]
ODD_KINDS: list[ParameterKind] = ["positional_only", "var_positional", "var_keyword"]
SHAPES: list[Shape] = ["function", "function", "function", "callable", "class", "value"]

types = st.sets(st.sampled_from(TYPES), min_size=1, max_size=2)
defaults: st.SearchStrategy[Any] = st.sampled_from(
    [REQUIRED, REQUIRED, UNKNOWN, None, "a", 1, True, [], (1,)]
)
annotated: st.SearchStrategy[Annotation] = st.just(Annotation()) | st.builds(
    Annotation, st.just("T"), st.none() | types.map(frozenset), st.booleans()
)
parameters = st.builds(
    Parameter,
    st.sampled_from(NAMES),
    st.sampled_from(KINDS * 8 + ODD_KINDS),
    defaults,
    annotated,
)
signatures = st.builds(
    Signature,
    st.lists(parameters, max_size=3, unique_by=lambda each: each.name).map(tuple),
    st.just("function") | st.sampled_from(SHAPES),
)
schemas: st.SearchStrategy[Any] = st.booleans() | st.fixed_dictionaries(
    {"type": st.sampled_from(TYPES) | types.map(sorted)},
    optional={"default": st.sampled_from(["a", 1, None, []]), "description": st.just("It.")},
)


def case_of(signature: Signature | None, required: list[str], **known: Any) -> AgreementCase:
    parameters = {"type": "object", "properties": known, "required": required}
    manifest = Manifest({"name": "echo", "parameters": parameters}, "")
    return AgreementCase.of(manifest, Interface(signature))


@st.composite
def cases(draw: st.DrawFn) -> AgreementCase:
    """Return a signature and a manifest that mostly have the same names."""
    signature = draw(signatures)
    known: dict[str, Any] = {
        each.name: {"type": min(each.annotation.types or {"null"})} for each in signature.parameters
    }
    needed = [each.name for each in signature.parameters if each.default is REQUIRED]
    known.update(draw(st.dictionaries(st.sampled_from(NAMES), schemas, max_size=1)))
    needed = draw(st.just(needed) | st.lists(st.sampled_from(NAMES), unique=True, max_size=2))
    absent = draw(st.sampled_from([False] * 9 + [True]))
    return case_of(None if absent else signature, needed, **known)


@settings(moderate, max_examples=500)
@example(case_of(Signature((Parameter("text"),)), ["text"], text=False))
@given(cases())
def test_no_rule_finds_anything_where_code_and_manifest_agree(case: AgreementCase) -> None:
    assert not agrees(case) or ask(RULES, case) == []


@pytest.mark.parametrize(
    ("parameter", "required", "schema"),
    [
        (Parameter("text"), ["text"], {"type": "string"}),
        (Parameter("text", "keyword_only"), ["text"], {"type": "string"}),
        (Parameter("text", default="a"), [], {"type": "string"}),
        (
            Parameter("text", annotation=Annotation("str", frozenset({"string"}))),
            ["text"],
            {"type": "string"},
        ),
    ],
)
def test_plain_code_and_manifest_agree(
    parameter: Parameter, required: list[str], schema: dict[str, Any]
) -> None:
    assert agrees(case_of(Signature((parameter,)), required, text=schema))


class Incomparable:
    """A default like those of numerical libraries: comparing it gives no truth."""

    def __eq__(self, other: object) -> bool:
        raise ValueError("the truth value is ambiguous")

    __hash__ = object.__hash__


def test_a_default_that_can_not_be_compared_is_left_alone() -> None:
    signature = Signature((Parameter("text", default=Incomparable()),))
    case = case_of(signature, [], text={"type": "string", "default": "a"})
    assert ask(RULES, case) == []
