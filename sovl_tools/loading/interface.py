"""The interface of a tool's module, from the imported module or from its text."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from types import FunctionType, MappingProxyType, ModuleType
from typing import Any, NamedTuple

from sovl_tools.annotations.bindings import Bindings, bindings, blocks
from sovl_tools.authoring.decorator import ATTRIBUTE, definition_of
from sovl_tools.loading.requirements import is_importable
from sovl_tools.loading.rules.module import ImportFailure
from sovl_tools.loading.sources import listed
from sovl_tools.model.definition import StepHandler, ToolDefinition
from sovl_tools.model.diagnostic import Position
from sovl_tools.model.errors import InferenceError
from sovl_tools.model.folder import HANDLERS, PHRASES, REGISTER, ToolFolder
from sovl_tools.model.suggestion import did_you_mean
from sovl_tools.schema.dynamic import without_functions
from sovl_tools.signature.inference import Inference, implied
from sovl_tools.signature.signature import ANYTHING, REQUIRED, UNKNOWN, Signature, from_function
from sovl_tools.signature.syntax_tree import from_expression, from_name, literal


class Interface(NamedTuple):
    """The functions, phrases and step handlers of a module, imported or parsed.

    Attributes:
        signature: of the function with the tool's name; None if it's missing.
        names: the module's public names, for suggestions.
        phrases: the value of ``ACTIVATION_PHRASES``; None if the module doesn't have one, UNKNOWN
            if parsing can't tell.
        handlers: the value of ``STEP_HANDLERS``, with a signature instead of each function.
        registration: the signature of ``register_step_handlers``; None if it's missing.
        claims: actions that ``register_step_handlers`` added or overwrote.
        removals: actions of others that it took away.
        function: the value of the tool's name, if the module was imported.
        step_handlers: by action, including ``register_step_handlers``'s, likewise.
        undecided: why only an import shows the tool; "" if the module was imported, or its text
            tells everything.
    """

    signature: Signature | None = None
    names: tuple[str, ...] = ()
    phrases: Any = None
    handlers: Any = None
    registration: Signature | None = None
    claims: Mapping[Any, Signature] = MappingProxyType({})
    removals: tuple[str, ...] = ()
    function: Any = None
    step_handlers: Mapping[str, StepHandler] = MappingProxyType({})
    undecided: str = ""

    @property
    def has_phrases(self) -> bool:
        """Whether the module has the tool's phrases, instead of the manifest."""
        return self.phrases is not None and self.phrases is not UNKNOWN

    @property
    def actions(self) -> tuple[str, ...]:
        """The kinds of steps that the module brings, as far as they can be read."""
        if self.handlers is None and not self.claims:
            return ()
        own = self.handlers if isinstance(self.handlers, Mapping) else {}
        return (*own, *(action for action in self.claims if action not in own))

    def implied(self) -> Inference:
        """Return the schema that the function or ``@tool`` implies."""
        definition = getattr(self.function, ATTRIBUTE, None)
        if isinstance(definition, ToolDefinition):
            with suppress(InferenceError):
                schema = without_functions(definition_of(self.function).parameters)
                return Inference({"properties": {}, **schema})
        return self.implied_by_annotations()

    def implied_by_annotations(self) -> Inference:
        """Return the schema that the function implies without ``@tool``.

        It shows null, too, where a manifest can write it for a field that is omitted.
        """
        return implied(self.signature or Signature(), self.function, with_none=True)


def inspect_module(module: ModuleType, name: str, existing: Mapping[str, StepHandler]) -> Interface:
    """Return the interface of the imported module of a tool.

    ``existing`` are the step handlers of other tools, which ``register_step_handlers`` sees.

    Raises:
        BaseException: anything that the module's own code raises here.
    """
    members = vars(module)
    own, register, phrases = members.get(HANDLERS), members.get(REGISTER), members.get(PHRASES)
    claims, removals = _register(register, existing)
    return Interface(
        signature=from_function(members[name]) if name in members else None,
        names=tuple(key for key, value in members.items() if _is_own(value, module)),
        phrases=phrases,
        handlers=_signatures(own) if isinstance(own, Mapping) else own,
        registration=from_function(register) if register is not None else None,
        claims=_signatures(claims),
        removals=removals,
        function=members.get(name),
        step_handlers={**(own if isinstance(own, Mapping) else {}), **claims},
    )


def _is_own(value: object, module: ModuleType) -> bool:
    return isinstance(value, FunctionType) and value.__module__ == module.__name__


def _signatures(handlers: Mapping[Any, Any]) -> dict[Any, Signature]:
    return {action: from_function(handler) for action, handler in handlers.items()}


def accepts(signature: Signature, count: int) -> bool:
    """Return whether a number of positional arguments can call something."""
    if not signature.is_function:
        return False
    if not signature.is_certain:
        return True
    parameters = signature.parameters
    slots = [p for p in parameters if p.kind in {"positional_only", "positional_or_keyword"}]
    needed = [p for p in slots if p.default is REQUIRED]
    open_ended = any(p.kind == "var_positional" for p in parameters)
    starved = any(p.kind == "keyword_only" and p.default is REQUIRED for p in parameters)
    return (open_ended or len(slots) >= count) and len(needed) <= count and not starved


def _register(
    register: object, existing: Mapping[str, StepHandler]
) -> tuple[dict[str, StepHandler], tuple[str, ...]]:
    """Let the module register its handlers in a copy; return the added and the removed ones."""
    if not callable(register) or not accepts(from_function(register), 1):
        return {}, ()
    # a copy, so that changes to the handlers of others are reported, but not made
    handlers = dict(existing)
    register(handlers)
    claims = {
        action: handler
        for action, handler in handlers.items()
        if action not in existing or existing[action] is not handler
    }
    return claims, tuple(action for action in existing if action not in handlers)


def parse_module(source: bytes, name: str) -> Interface:
    """Return the interface of a tool's module, as far as its text shows it.

    Raises:
        SyntaxError, ValueError, RecursionError, MemoryError: the source isn't Python.
    """
    found = bindings(source)
    signature = from_name(name, found)
    return Interface(
        signature=signature,
        names=tuple(
            key
            for key, node in found.names.items()
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        ),
        phrases=_literal(PHRASES, found),
        handlers=_handlers(found),
        registration=from_name(REGISTER, found) if REGISTER in found.names else None,
        undecided=_undecided(name, signature, found),
    )


def _undecided(name: str, signature: Signature | None, found: Bindings) -> str:
    """Return why only an import shows the tool of a module; "" if its text tells everything."""
    function = found.names.get(name)
    if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
        return f"{name!r} isn't a function that the module defines"
    if signature is not None and not signature.is_certain:
        return f"{name!r} is decorated"
    # a condition can bind it, or a function by ``global``
    if found.is_open or name in found.unsettled or function not in found.tree.body:
        return f"running the module may bind {name!r} to another object"
    if REGISTER in found.names:
        return f"{REGISTER!r} decides on step handlers"
    for each in (PHRASES, HANDLERS):
        node = found.names.get(each)
        parts = node.keys if each == HANDLERS and isinstance(node, ast.Dict) else [node]
        if UNKNOWN in map(literal, parts) or (node is not None and _uses(each, found.tree) > 1):
            return f"{each!r} is computed"
    return ""


def missing_library(source: bytes) -> str:
    """Return a library that a module imports for certain, and that isn't installed; or ""."""
    statements = _unguarded(bindings(source).tree.body)
    imports = (each for each in statements if isinstance(each, ast.Import | ast.ImportFrom))
    libraries = (each for node in imports for each in _libraries(node))
    return next((each for each in libraries if not is_importable(each)), "")


def _uses(name: str, tree: ast.Module) -> int:
    return sum(isinstance(each, ast.Name) and each.id == name for each in ast.walk(tree))


def _literal(name: str, found: Bindings) -> Any:
    return UNKNOWN if name in found.unsettled else literal(found.names.get(name))


def _handlers(found: Bindings) -> Any:
    node = found.names.get(HANDLERS)
    if not isinstance(node, ast.Dict) or HANDLERS in found.unsettled:
        return _literal(HANDLERS, found)
    handlers = {}
    for key, value in zip(node.keys, node.values, strict=True):
        # ``**others`` in a dictionary has no key
        action = UNKNOWN if key is None else literal(key)
        if action is UNKNOWN:
            continue
        if isinstance(value, ast.Name):
            signature = from_name(value.id, found)
        else:
            signature = from_expression(value, found)
        is_known = signature is not None and signature is not ANYTHING
        handlers[action] = signature if is_known else UNKNOWN
    return handlers


class SiblingImports(NamedTuple):
    """Imports of a folder's files that fail for certain, as far as a module's text tells."""

    absolute: list[ImportFailure]
    missing: list[ImportFailure]


def sibling_imports(source: bytes, folder: ToolFolder) -> SiblingImports:
    """Return imports of the folder's files as libraries, and relative imports of missing files.

    Skips imports in ``try``, ``if`` and functions, which can fail without harm, or never run.
    """
    absolute: list[ImportFailure] = []
    missing: list[ImportFailure] = []
    tree = bindings(source).tree
    # a folder on the path makes an import in a function one of every tool, too
    is_on_path = any(each in source for each in _PATH)
    statements = ast.walk(tree) if is_on_path else _unguarded(tree.body)
    imports = [each for each in statements if isinstance(each, ast.Import | ast.ImportFrom)]
    with suppress(OSError):
        folder = listed(folder) if imports else folder
    stems = {name[:-3] for name in folder.files if name.endswith(".py")} | folder.folders
    # in any form that Python imports modules in
    helpers = {*folder.folders, *(each.partition(".")[0] for each in folder.files)}
    for node in imports:
        place = Position(folder.module_name, node.lineno, node.col_offset + 1)
        if isinstance(node, ast.ImportFrom) and node.level == 1 and node.module and folder.files:
            helper = node.module.partition(".")[0]
            if helper not in helpers:
                missing.append(missing_helper(folder, f"{helper}.py", place))
        if isinstance(node, ast.ImportFrom) and node.level == _ABOVE and node.module:
            lost = missing_above(folder, node.module, place)
            missing += [] if lost is None else [lost]
        absolute += [
            ImportFailure(place, "", "", f"{module}.py")
            for module in _libraries(node)
            if module in stems - {folder.name} and _is_absent(module, folder)
        ]
    # a module that changes how imports work must run
    if any(each in source for each in (b"__path__", b"sys.modules", b"meta_path")):
        missing = []
    return SiblingImports(absolute, missing)


_PATH = (b"sys.path", b"addsitedir")


SHARE = "move what both need to '_shared' next to them: from .._shared.x import y"
"""The advice where one tool imports another."""
_ABOVE = 2
"""The dots of a relative import from the directory around a tool's folder."""


def _libraries(node: ast.Import | ast.ImportFrom) -> list[str]:
    """Return the top-level names of the libraries that a statement imports."""
    if isinstance(node, ast.Import):
        return [each.name.partition(".")[0] for each in node.names]
    return [] if node.level else [(node.module or "").partition(".")[0]]


def missing_helper(folder: ToolFolder, path: str, place: Position) -> ImportFailure:
    """Return the failure of a relative import whose file is missing."""
    helpers = [each for each in folder.files if each.endswith(".py")]
    advice = did_you_mean(path, helpers) or "add it, or import a library without the dot"
    words = f"there's no {path!r} in the tool's folder"
    return ImportFailure(place, ModuleNotFoundError.__name__, words, advice=advice)


def missing_above(folder: ToolFolder, name: str, place: Position) -> ImportFailure | None:
    """Return why an import from the directory around a tool's folder fails, if it does.

    ``name`` is the dotted name of a module there. Tools share modules of folders whose names begin
    with ``_``, and can't import each other.
    """
    outer, path = name.partition(".")[0], name.replace(".", "/")
    place_of = f"{os.path.dirname(folder.location)}/{path}"
    if not outer.startswith("_"):
        words, advice = (
            f"'..{outer}' is another tool, or isn't there: a tool can't import it",
            SHARE,
        )
    elif os.path.lexists(place_of) or os.path.isfile(f"{place_of}.py"):
        return None
    else:
        words, advice = f"there's no module '..{name}'", "add it, or correct the name"
    return ImportFailure(place, ModuleNotFoundError.__name__, words, advice=advice)


def _unguarded(body: Iterable[ast.AST]) -> Iterator[ast.stmt]:
    """Yield the statements that run at import, except in ``try`` and ``if``."""
    for child in body:
        if isinstance(child, ast.stmt):
            yield child
        if not isinstance(child, _GUARDS) and (inner := blocks(child)):
            yield from _unguarded(inner)


_GUARDS = (ast.Try, ast.TryStar, ast.If, ast.FunctionDef, ast.AsyncFunctionDef)


def _is_absent(module: str, folder: ToolFolder) -> bool:
    """Return whether a module is neither installed nor in a directory around the tool."""
    return not is_importable(module) and own_directory(module, folder) is None


def own_directory(module: str, folder: ToolFolder) -> str | None:
    """Return the directory around a tool's folder that has a module of the author's own."""
    directory = os.path.dirname(folder.location)
    # beyond the root of the project, or a few levels, there are the modules of others
    for _ in range(_LEVELS):
        for place in (directory, f"{directory}/src"):
            if os.path.isfile(f"{place}/{module}.py") or os.path.isdir(f"{place}/{module}"):
                return place
        if any(os.path.lexists(f"{directory}/{mark}") for mark in _ROOT_MARKS):
            return None
        directory = os.path.dirname(directory)
    return None


_LEVELS = 4
_ROOT_MARKS = (".git", "pyproject.toml", "sovl-tools.toml")
