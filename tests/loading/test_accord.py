from __future__ import annotations

import functools
import json
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest
from hypothesis import event, example, given, settings
from hypothesis import strategies as st

from sovl_tools.loading.accord import is_in_accord
from sovl_tools.loading.checks import agreement, offer
from sovl_tools.loading.inspecting import inspect_module
from sovl_tools.model.diagnostic import Verdict, ask
from sovl_tools.model.manifest import Manifest
from tests.validation.strategies import examples, moderate

NAMES = ("text", "count", "flag")
ANNOTATIONS = {
    "string": ["str", "'str'", "Optional[str]", "str | None", "Literal['a']", "Any", "Color"],
    "integer": ["int", "float", "int | str", "Annotated[int, 'a count']"],
    "array": ["list", "list[str]", "Sequence[str]", "Unknown[int]"],
    "boolean": ["bool", "'bool | None'", "None"],
}
HEAD = """
from collections.abc import Sequence
from typing import Annotated, Any, Generic, Literal, Optional, TypeVar

T = TypeVar("T")


class Color: ...


class Unknown(Generic[T]): ...


def traced(function):
    function.traced = True
    return function


"""
OFFERS = ["", "ACTIVATION_PHRASES = ['!']\n", "STEP_HANDLERS = 5\n", "register_step_handlers = 5\n"]
phrases = st.lists(st.sampled_from(["say it", "Say, it!", "echo", "!", "écho"]), max_size=2)
schemas = st.sampled_from(sorted(ANNOTATIONS)).flatmap(
    lambda kind: st.fixed_dictionaries(
        {"type": st.sampled_from([kind] * 9 + [[kind, "null"]])},
        optional={"description": st.just("It."), "default": st.sampled_from([None, "a", 1])},
    )
)


@st.composite
def parameter(draw: st.DrawFn, name: str, schema: Any) -> tuple[str, bool]:
    """Return the text of a parameter that mostly fits the schema, and whether it has a default."""
    declared = schema["type"] if isinstance(schema, dict) else "string"
    kind = declared if isinstance(declared, str) else declared[0]
    fitting = ANNOTATIONS[kind]
    every = [each for known in ANNOTATIONS.values() for each in known]
    annotation = draw(st.sampled_from(["", *fitting * 3, *every]))
    text = f"{name}: {annotation}" if annotation else name
    has_default = draw(st.booleans())
    value = draw(st.sampled_from(["None", "'a'", "1"]))
    return (f"{text} = {value}" if has_default else text), has_default


@st.composite
def modules(draw: st.DrawFn) -> tuple[str, Manifest]:
    """Return a module and a manifest that mostly agree."""
    properties: dict[str, Any] = draw(st.dictionaries(st.sampled_from(NAMES), schemas))
    written = {name: draw(parameter(name, schema)) for name, schema in properties.items()}
    required = [name for name, (_, has_default) in written.items() if not has_default]
    for name in draw(st.sampled_from([(), (), (), *((each,) for each in NAMES)])):
        properties.pop(name, None) if name in properties else properties.update({name: True})
    required = draw(st.sampled_from([required, required, required, required[1:], sorted(written)]))
    required = [name for name in required if name in properties]
    first = [text for text, has_default in written.values() if not has_default]
    last = [text for text, has_default in written.values() if has_default]
    split = draw(st.integers(0, len(last)))
    odd = draw(st.sampled_from([*[[]] * 9, ["/"], ["*more"]])) if first + last[:split] else []
    star = ["*"] if last[split:] and odd != ["*more"] else []
    rest = draw(st.sampled_from([*[[]] * 9, ["**rest"]]))
    listed = ", ".join([*first, *last[:split], *odd, *star, *last[split:], *rest])
    decorator = draw(st.sampled_from([*[""] * 9, "@traced\n"]))
    source = f"{HEAD}{draw(st.sampled_from(OFFERS[:1] * 9 + OFFERS))}{decorator}"
    parameters = {"type": "object", "properties": properties, "required": required}
    parameters |= draw(st.sampled_from([*[{}] * 9, {"additionalProperties": True}]))
    keys = {"activation_phrases": draw(phrases)}
    document = {"name": "echo", "parameters": parameters, **keys}
    return f"{source}def echo({listed}): ...\n", Manifest(document, json.dumps(document))


def module_of(source: str) -> ModuleType:
    module = ModuleType("accord")
    exec(source, vars(module))
    return module


def findings(module: ModuleType, manifest: Manifest) -> list[Verdict]:
    interface = inspect_module(module, "echo", {}).interface
    found = ask(agreement.RULES, agreement.AgreementCase.of(manifest, interface))
    return found + ask(offer.RULES, offer.OfferCase(interface, manifest.phrases))


def manifest_of(*required: str, **properties: Any) -> Manifest:
    parameters = {"type": "object", "properties": properties, "required": list(required)}
    return Manifest({"name": "echo", "parameters": parameters}, "")


@settings(moderate, max_examples=examples(500))
@example(("def echo(text): ...\n", manifest_of("text", text=True)))
@example(("def echo(text: int): ...\n", manifest_of("text", text={"type": "string"})))
@given(modules())
def test_no_rule_finds_anything_in_a_module_in_accord(made: tuple[str, Manifest]) -> None:
    source, manifest = made
    module = module_of(source)
    is_plain = is_in_accord(vars(module), manifest)
    event(f"in accord: {is_plain}")
    assert not is_plain or findings(module, manifest) == []


TEXT = {"type": "string"}
LIST = {"type": "array", "items": TEXT}


@pytest.mark.parametrize(
    ("source", "manifest"),
    [
        ("def echo(): ...", manifest_of()),
        ("def echo(text): ...", manifest_of("text", text=TEXT)),
        ("def echo(text: str, *, words: list[str]): ...",
         manifest_of("text", "words", text=TEXT, words=LIST)),
        ("def echo(text: 'str', words: list = (), *, more: str = ''): ...",
         manifest_of("text", text=TEXT, words=LIST, more=TEXT)),
        ("async def echo(text: str | None = None): ...", manifest_of(text=TEXT)),
    ],
)  # fmt: skip
def test_the_modules_that_most_tools_have_are_in_accord(source: str, manifest: Manifest) -> None:
    module = module_of(source)
    assert findings(module, manifest) == []
    assert is_in_accord(vars(module), manifest)


class OfText:
    def __call__(self, text: str) -> None: ...


def of_text(text: str) -> None: ...


@pytest.mark.parametrize(
    "value",
    [functools.partial(of_text), OfText(), type("echo", (), {}), len, None],
    ids=["partial", "object", "class", "built-in", "nothing"],
)
def test_what_is_no_plain_function_is_looked_at_closely(value: Callable[..., Any] | None) -> None:
    assert is_in_accord({"echo": of_text}, manifest_of("text", text=TEXT))
    assert not is_in_accord({"echo": value}, manifest_of("text", text=TEXT))
