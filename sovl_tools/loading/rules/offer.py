"""ST6xx: phrases and step handlers, from the manifest and the module."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from sovl_tools.annotations.bindings import bindings
from sovl_tools.loading.interface import Interface, accepts
from sovl_tools.model.actions import ACTIONS
from sovl_tools.model.diagnostic import Finding, ManifestPlace, ModulePlace, Place, rule
from sovl_tools.model.folder import HANDLERS, PHRASES, REGISTER
from sovl_tools.model.suggestion import nearest, question
from sovl_tools.search.slots import SLOT, slot_of
from sovl_tools.search.words import words
from sovl_tools.signature.signature import UNKNOWN

_STEP_ARGUMENTS = 2
_LIKE_OURS = re.compile(
    rb"(?i)^[^\S\n]*(?:def[ \t]+)?\w*(?:step|phrase|activat)\w*\s*[:=(]", re.MULTILINE
)
_NEARLY = 0.85


class OfferCase(NamedTuple):
    """A module's interface and the phrases of the manifest.

    ``source`` is the module's text, and ``parameters`` the manifest's, if warnings are wanted.
    """

    interface: Interface
    phrases: tuple[str, ...]
    source: bytes = b""
    parameters: Mapping[str, Any] = MappingProxyType({})

    @property
    def handlers(self) -> Mapping[Any, Any]:
        """The step handlers' signatures by action, as far as they can be read."""
        own = self.interface.handlers
        return {**(own if isinstance(own, Mapping) else {}), **self.interface.claims}

    def place(self, action: object) -> ModulePlace:
        """Return the place where the action is claimed."""
        own = self.interface.handlers
        if isinstance(own, Mapping) and action in own:
            return ModulePlace(HANDLERS, item=action)
        return ModulePlace(REGISTER)


@rule("ST601")
def invalid_phrases(case: OfferCase) -> Iterator[Finding]:
    """``ACTIVATION_PHRASES`` in the module isn't a list of strings.

    A single string would be a list of letters. Write a list: ``["add numbers"]``.
    """
    phrases = case.interface.phrases
    if phrases is None or phrases is UNKNOWN:
        return
    if not isinstance(phrases, list | tuple) or not all(isinstance(each, str) for each in phrases):
        message = f"{PHRASES} isn't a list of strings"
        yield Finding(ModulePlace(PHRASES), message, 'write a list: ["first phrase", "second"]')


def _phrases(case: OfferCase) -> Iterator[tuple[int, str]]:
    """Yield the phrases that count, each with its index."""
    own = case.interface.phrases if case.interface.has_phrases else case.phrases
    for index, each in enumerate(own if isinstance(own, list | tuple) else ()):
        if isinstance(each, str):
            yield index, each


def _place_of_phrase(case: OfferCase, index: int) -> Place:
    if case.interface.has_phrases:
        return ModulePlace(PHRASES, item=index)
    return ManifestPlace(("activation_phrases", index))


@rule("ST602", "warning")
def wordless_phrase(case: OfferCase) -> Iterator[Finding]:
    """An activation phrase has no words.

    Phrases are compared word by word, without punctuation, so it never matches. Remove it.
    """
    for index, phrase in _phrases(case):
        if not words(phrase):
            place = _place_of_phrase(case, index)
            yield Finding(place, f"the phrase {phrase!r:.80} has no word and never matches")


@rule("ST607", "warning")
def duplicate_phrase(case: OfferCase) -> Iterator[Finding]:
    """A tool has the same activation phrase twice.

    Case, punctuation and spacing are ignored, so "Add numbers!" repeats "add numbers". Remove one
    of them.
    """
    seen: set[tuple[str, ...]] = set()
    for index, phrase in _phrases(case):
        key = words(phrase)
        if key and key in seen:
            place = _place_of_phrase(case, index)
            yield Finding(place, f"the phrase {phrase!r:.80} is listed twice")
        seen.add(key)


@rule("ST609", "warning")
def unknown_slot(case: OfferCase) -> Iterator[Finding]:
    """An activation phrase has braces around something that can't be taken from a text.

    In `"weather in {city}"` the parameter `city` is a slot, which takes its value from the user's
    words. The braces must name a parameter that takes a string, a number, a boolean or one of a
    list; around anything else they are punctuation.
    """
    properties = case.parameters.get("properties", {})
    for index, phrase in _phrases(case):
        for name in SLOT.findall(phrase):
            if slot_of(name, case.parameters) is not None:
                continue
            why, hint = "isn't a parameter", None
            if name in properties:
                why, hint = "can't be taken from a text", "name a parameter that isn't a list"
            elif near := nearest(name, properties):
                hint = question(f"{{{near}}}")
            message = f"{name!r:.80} in the phrase {phrase!r:.80} {why}"
            yield Finding(_place_of_phrase(case, index), message, hint)


@rule("ST603")
def invalid_step_handlers(case: OfferCase) -> Iterator[Finding]:
    """``STEP_HANDLERS`` isn't a dictionary of functions by action.

    The keys are names of actions, non-empty strings. The values are functions
    ``handler(step, context)``, sync or async.
    """
    own = case.interface.handlers
    place = ModulePlace(HANDLERS)
    if own is None or own is UNKNOWN:
        return
    if not isinstance(own, Mapping):
        message = f"{HANDLERS} isn't a dictionary"
        yield Finding(place, message, f'write: {HANDLERS} = {{"my_action": my_handler}}')
        return
    for action in own:
        if not isinstance(action, str) or not action.strip():
            message = f"{action!r:.80} in {HANDLERS} can't name an action"
            yield Finding(ModulePlace(HANDLERS, item=action), message)


@rule("ST604")
def invalid_step_handler(case: OfferCase) -> Iterator[Finding]:
    """A step handler can't be called as ``handler(step, context)``.

    A handler is called with two positional arguments: the step, a mapping with rendered templates,
    and the context. It must take both, and must not require more.
    """
    for action, signature in case.handlers.items():
        if signature is not UNKNOWN and not accepts(signature, _STEP_ARGUMENTS):
            message = f"the handler of {action!r:.80} can't be called as handler(step, context)"
            place = case.place(action)
            yield Finding(place, message, "let it take two parameters: step and context")


@rule("ST605")
def invalid_handler_registration(case: OfferCase) -> Iterator[Finding]:
    """``register_step_handlers`` can't be called with one dictionary, or misuses it.

    It is called once, as ``register_step_handlers(handlers)``, with a dictionary of the existing
    handlers. Its new handlers belong to this tool. It must not remove handlers of other tools.
    """
    registration = case.interface.registration
    place = ModulePlace(REGISTER)
    if registration is not None and not accepts(registration, 1):
        yield Finding(place, f"{REGISTER} can't be called with one dictionary")
    for action in case.interface.removals:
        yield Finding(place, f"{REGISTER} takes the handler of {action!r} away")


@rule("ST606")
def built_in_action(case: OfferCase) -> Iterator[Finding]:
    """A step handler has the name of a built-in action.

    ``tool``, ``set``, ``if``, ``for_each``, ``parallel``, ``procedure``, ``wait``, ``return`` and
    ``fail`` mean the same in all procedures. Choose another name for the action.
    """
    for action in case.handlers:
        if isinstance(action, str) and action in ACTIONS:
            message = f"the action {action!r} is built in"
            yield Finding(case.place(action), message, "choose another name for the action")


@rule("ST608", "warning")
def misspelt_constant(case: OfferCase) -> Iterator[Finding]:
    """A name in the module looks like a special one, but isn't.

    ``STEP_HANDLER`` and ``ACTIVATION_PHRASE`` are ignored, so the module has no handlers and no
    phrases. The names are ``STEP_HANDLERS``, ``ACTIVATION_PHRASES`` and ``register_step_handlers``.
    A module that also has the right name isn't reported.
    """
    # parsing costs more than all other rules together, and most modules have no such name
    bound = bindings(case.source).names if _LIKE_OURS.search(case.source) else {}
    for name, node in bound.items():
        is_function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        wanted = (REGISTER,) if is_function else (PHRASES, HANDLERS)
        near = nearest(name, wanted, cutoff=_NEARLY)
        if near is not None and near not in bound and not isinstance(node, ast.ClassDef):
            message = f"{name!r} has no meaning here"
            yield Finding(ModulePlace(name), message, question(repr(near)))


RULES = (
    invalid_phrases,
    wordless_phrase,
    duplicate_phrase,
    unknown_slot,
    invalid_step_handlers,
    invalid_step_handler,
    invalid_handler_registration,
    built_in_action,
    misspelt_constant,
)
