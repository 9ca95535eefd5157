"""Other frameworks' names of things that have another name here, for error messages.

``docs/how-to/migrate.md`` has the table, which ``scripts/docs/names.py`` writes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from typing import NamedTuple, NoReturn, ParamSpec, TypeVar

_P = ParamSpec("_P")
_T = TypeVar("_T")


class Former(NamedTuple):
    """Names of other systems, and the name here.

    Attributes:
        owner: the class that has it, or the package.
        names: the other names.
        here: the attribute, with its arguments if it is a method.
        is_argument: whether it is an argument of the constructor or of ``register``.
    """

    owner: str
    names: tuple[str, ...]
    here: str
    is_argument: bool = False


NAMES = (
    Former("ToolDefinition", ("func",), "function"),
    Former("ToolDefinition", ("func",), "function", is_argument=True),
    Former("ToolRegistry", ("get_tool", "get_tool_by_name"), "get(name)"),
    Former(
        "ToolRegistry",
        ("register_tool_definition", "register_tool_func", "register_tool"),
        "register(tool, override=False)",
    ),
    Former("ToolRegistry", ("allow_override",), "override", is_argument=True),
    Former("ToolRegistry", ("get_all_tools",), "list_tools()"),
    Former("ToolRegistry", ("get_filtered_tools",), "filter(criteria)"),
    Former(
        "ToolRegistry",
        ("get_all_tools_metadata_for_llm", "get_all_tool_definitions"),
        'definitions("openai")',
    ),
    Former("ToolRegistry", ("get_all_ai_prompt_instructions",), "prompt_instructions()"),
    Former("ToolRegistry", ("scan_and_register_tools",), "load_package(name)"),
    Former("ToolRegistry", ("reload_tools",), "reload()"),
    Former("Agent", ("socket_emit",), "emit"),
    Former("Agent", ("socket_emit",), "emit", is_argument=True),
    Former("Agent", ("_build_tool_defs",), "definitions()"),
    Former("sovl_tools", ("global_tool_registry",), "default_registry()"),
)


def _by_name(*, is_argument: bool) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for each in NAMES:
        if each.is_argument is is_argument:
            found.setdefault(each.owner, {}).update(dict.fromkeys(each.names, each.here))
    return found


_ATTRIBUTES, _ARGUMENTS = _by_name(is_argument=False), _by_name(is_argument=True)


def refuse_attribute(owner: str, name: str) -> NoReturn:
    """Raise AttributeError for an attribute that isn't there, with the name that it has here."""
    here = _ATTRIBUTES[owner].get(name)
    advice = f"; it is {here} here" if here else ""
    raise AttributeError(f"{owner!r} has no attribute {name!r}{advice}")


def check_arguments(owner: str, keywords: Iterable[str]) -> None:
    """Raise TypeError for an argument that has another name here, with that name."""
    for name in _ARGUMENTS[owner].keys() & keywords:
        raise TypeError(f"{owner} takes no {name!r}; it is {_ARGUMENTS[owner][name]!r} here")


def with_names_here(owner: str) -> Callable[[Callable[_P, _T]], Callable[_P, _T]]:
    """Decorate a method so that an argument with another name raises TypeError with the right one.

    Args:
        owner: the class of the method.
    """

    def decorated(method: Callable[_P, _T]) -> Callable[_P, _T]:
        @wraps(method)
        def checked(*arguments: _P.args, **keywords: _P.kwargs) -> _T:
            check_arguments(owner, keywords)
            return method(*arguments, **keywords)

        return checked

    return decorated
