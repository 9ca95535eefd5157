from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

import pytest

from sovl_tools.loading.interface import inspect_module, parse_module
from sovl_tools.signature.signature import REQUIRED, Signature, from_function
from tests.tables import check_each


def plain(text: str, /, count: int = 1, *rest: str, loud: bool = False, **more: Any) -> None:
    """Have a parameter of every kind."""


def wrapping(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return wrapper


class Callee:
    def __call__(self, text: str) -> str:
        return text

    def method(self, text: str) -> str:
        return text


class Unfathomable:
    """A callable with an odd attribute."""

    __signature__ = "none"

    def __call__(self) -> None: ...


def described(signature: Signature) -> list[tuple[str, str, Any, str]]:
    return [(each.name, each.kind, each.default, each.annotation.text) for each in signature[0]]


PLAIN = [
    ("text", "positional_only", REQUIRED, "str"),
    ("count", "positional_or_keyword", 1, "int"),
    ("rest", "var_positional", REQUIRED, "str"),
    ("loud", "keyword_only", False, "bool"),
    ("more", "var_keyword", REQUIRED, "Any"),
]
TEXT = [("text", "positional_or_keyword", REQUIRED, "str")]


@check_each(
    ("value", "shape", "parameters"),
    [
        (plain, "function", PLAIN),
        (wrapping(plain), "function", PLAIN),
        (functools.lru_cache(plain), "callable", PLAIN),
        (Callee(), "callable", TEXT),
        (Callee().method, "callable", TEXT),
        (functools.partial(Callee().method), "callable", TEXT),
        (
            functools.partial(plain, "a", count=2),
            "callable",
            [("count", "keyword_only", 2, "int"), *PLAIN[3:]],
        ),
        (lambda: None, "function", []),
        (len, "callable", [("obj", "positional_only", REQUIRED, "")]),
        (max, "callable", [("arguments", "var_keyword", REQUIRED, "")]),
        (Unfathomable(), "callable", []),
        (Callee, "class", []),
        (dict, "class", []),
        (5, "value", []),
        (None, "value", []),
        ("plain", "value", []),
    ],
)
def test_a_signature_is_found_for_whatever_the_name_is_bound_to(
    value: Any, shape: str, parameters: list[tuple[str, str, Any, str]]
) -> None:
    signature = from_function(value)
    assert signature.shape == shape
    assert described(signature) == parameters


def test_a_function_with_attributes_has_the_same_signature() -> None:
    def tagged(text: str, *, count: int = 1) -> None: ...

    before = from_function(tagged)
    tagged.tag = "io"  # type: ignore[attr-defined]
    assert from_function(tagged) == before


def module_of(**members: Any) -> ModuleType:
    module = ModuleType("echo")
    vars(module).update(members)
    for member in members.values():
        if isinstance(member, type(plain)):
            member.__module__ = "echo"
    return module


def handler(step: Mapping[str, Any], context: Any) -> None: ...


def known(step: Mapping[str, Any], context: Any) -> None: ...


def two(one: Any, other: Any) -> None: ...


def starved(handlers: Any = None, *, more: Any) -> None: ...


def test_a_module_offers_its_function_and_phrases() -> None:
    offer = inspect_module(module_of(echo=plain, ACTIVATION_PHRASES=["say it"]), "echo", {})
    assert offer.function is plain
    assert offer.signature == from_function(plain)
    assert offer.phrases == ["say it"]
    assert (offer.handlers, offer.step_handlers) == (None, {})


def test_a_module_without_the_function_tells_the_names_that_it_has() -> None:
    module = module_of(ehco=lambda: None, STEP_HANDLERS=5, imported=functools.reduce)
    offer = inspect_module(module, "echo", {})
    assert offer.signature is None
    assert offer.names == ("ehco",)
    assert offer.handlers == 5


def test_step_handlers_of_both_ways_belong_to_the_tool() -> None:
    def register_step_handlers(handlers: dict[str, Any]) -> None:
        handlers["late"] = handler
        handlers["known"] = handlers["known"]

    module = module_of(
        echo=plain,
        STEP_HANDLERS={"greet": handler},
        register_step_handlers=register_step_handlers,
    )
    offer = inspect_module(module, "echo", {"known": known})
    assert offer.step_handlers == {"greet": handler, "late": handler}
    assert offer.claims.keys() == {"late"}
    assert offer.removals == ()


def test_overwriting_and_removing_handlers_of_others_is_noticed() -> None:
    def register_step_handlers(handlers: dict[str, Any]) -> None:
        handlers["first"] = handler
        del handlers["second"]

    existing = {"first": known, "second": known}
    module = module_of(echo=plain, register_step_handlers=register_step_handlers)
    interface = inspect_module(module, "echo", existing)
    assert (set(interface.claims), interface.removals) == ({"first"}, ("second",))
    assert existing == {"first": known, "second": known}


@pytest.mark.parametrize("register", [5, lambda: None, two, starved])
def test_a_registration_that_can_not_be_called_is_not_called(register: Any) -> None:
    module = module_of(echo=plain, register_step_handlers=register)
    interface = inspect_module(module, "echo", {})
    assert interface.registration == from_function(register)
    assert interface.claims == {}


ALIASED = """
from __future__ import annotations
from sovl_tools import ToolContext as Context
from sovl_tools import ToolContext
Other = Context
def renamed(text: str, context: Context, maybe: Context | None = None) -> str:
    return text
def wrapped(text: str, context: Context) -> str:
    return text
def plain(text: str, thing: Thing, context: list[Context]) -> str:
    return text
"""


@check_each(
    ("name", "contexts"),
    [("renamed", ("context", "maybe")), ("wrapped", ("context",)), ("plain", ())],
)
@check_each("head", ["", "from __future__ import annotations\n"])
def test_a_context_is_known_under_another_name(
    name: str, contexts: tuple[str, ...], head: str
) -> None:
    source = ALIASED.replace("from __future__ import annotations\n", head)
    source = source.replace("thing: Thing", "thing: int")
    module = ModuleType("aliased")
    exec(source, vars(module))
    live = vars(module)[name]
    found = from_function(wrapping(live) if name == "wrapped" else live)
    parsed = parse_module(source.encode(), name).signature
    assert parsed is not None
    assert (found.contexts, parsed.contexts) == (contexts, contexts)
