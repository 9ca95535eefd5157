"""Measures the shape of the package.

    scripts/shape            everything
    scripts/shape dispatch   one package or module, with the functions referenced once by name

A function is referenced once if its name occurs once in the package besides its definition; the
method of a base class, behind ``super()``, is another one. Public names and their methods, magic
methods and whatever a decorator or a table of a module registers, or is handed to somebody who
calls it (``target=self._run``), are left out of that count: others call them. ``map`` and its like
call at once.
"""

from __future__ import annotations

import ast
import io
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles

import sovl_tools

PACKAGE = Path(sovl_tools.__file__).parent
PLAIN_DECORATORS = {"property", "cached_property", "classmethod", "staticmethod", "overload",
                    "contextmanager", "cache", "override", "setter", "coroutine"}  # fmt: skip

CALLING_AT_ONCE = {"map", "filter", "sorted", "min", "max", "sum", "any", "all", "reduce"}

NO_CODE = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
           tokenize.ENDMARKER}  # fmt: skip

Definition = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Module:
    """A module of the package, read once."""

    name: str
    source: str
    tree: ast.Module

    @property
    def stem(self) -> str:
        """The last part of its name."""
        return self.name.rpartition(".")[2]

    def functions(self) -> Iterator[tuple[str, Definition]]:
        """Yield the functions and methods with the classes around them."""
        pending: list[tuple[str, ast.AST]] = [("", self.tree)]
        while pending:
            owner, node = pending.pop()
            for child in ast.iter_child_nodes(node):
                if isinstance(child, Definition):
                    yield owner, child
                    pending.append(("<locals>", child))
                elif isinstance(child, ast.ClassDef):
                    pending.append((child.name, child))
                else:
                    pending.append((owner, child))


def modules() -> list[Module]:
    """Read every module of the package."""
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        source = path.read_text()
        found.append(Module(name, source, ast.parse(source)))
    return found


def length(function: Definition) -> int:
    """Return the lines of a function without its docstring and decorators."""
    last = function.end_lineno or function.lineno
    first = function.body[0]
    documented = ast.get_docstring(function, clean=False) is not None
    docstring = (first.end_lineno or 0) - first.lineno + 1 if documented else 0
    return last - function.lineno + 1 - docstring


def registered(function: Definition) -> bool:
    """Tell whether a decorator hands the function to somebody else."""
    for decorator in function.decorator_list:
        target = decorator.func if isinstance(decorator, ast.Call) else decorator
        name = target.attr if isinstance(target, ast.Attribute) else getattr(target, "id", "")
        if name not in PLAIN_DECORATORS:
            return True
    return False


def references(every: list[Module]) -> tuple[Counter[tuple[str, str]], Counter[str]]:
    """Count where names are used: by module and name, and as attributes or in tables."""
    by_module: Counter[tuple[str, str]] = Counter()
    anywhere: Counter[str] = Counter()
    for module in every:
        origin = {
            alias.asname or alias.name: (node.module, alias.name)
            for node in ast.walk(module.tree)
            if isinstance(node, ast.ImportFrom) and node.module
            for alias in node.names
        }
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                by_module[origin.get(node.id, (module.name, node.id))] += 1
            elif isinstance(node, ast.Attribute):
                is_inherited = (
                    isinstance(node.value, ast.Call) and names(node.value.func) == "super"
                )
                anywhere[node.attr] += not is_inherited
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                head, colon, tail = node.value.partition(":")
                if colon and head.startswith("sovl_tools.") and tail.isidentifier():
                    anywhere[tail] += 1
    return by_module, anywhere


def names(node: ast.AST) -> str:
    """Return the name that an expression ends with, or ""."""
    return node.id if isinstance(node, ast.Name) else getattr(node, "attr", "")


def handed_over(every: list[Module]) -> set[tuple[str, str]]:
    """Return the names that are arguments of calls, by module, and those of attributes by ""."""
    calls = [
        (each.name, node)
        for each in every
        for node in ast.walk(each.tree)
        if isinstance(node, ast.Call) and names(node.func) not in CALLING_AT_ONCE
    ]
    return {
        (module if isinstance(value, ast.Name) else "", names(value))
        for module, call in calls
        for value in (*call.args, *(each.value for each in call.keywords if each.arg != "key"))
    }


def in_tables(module: Module) -> set[str]:
    """Return the names that displays of a module hold, such as functions by their keys."""
    values = [
        node.value for node in module.tree.body if isinstance(node, ast.Assign | ast.AnnAssign)
    ]
    nodes = [node for value in values if value is not None for node in ast.walk(value)]
    called = {id(node.func) for node in nodes if isinstance(node, ast.Call)}
    return {node.id for node in nodes if isinstance(node, ast.Name) and id(node) not in called}


def referenced_once(every: list[Module], chosen: list[Module]) -> tuple[list[str], int]:
    """Return the functions of chosen modules that are referenced once, and how many count."""
    by_module, anywhere = references(every)
    handed = handed_over(every)
    public = set(sovl_tools.__all__)
    once, counted = [], 0
    for module in chosen:
        listed = in_tables(module)
        for owner, function in module.functions():
            name = function.name
            is_ours = name.startswith("__") or owner in public or (not owner and name in public)
            is_listed = not owner and name in listed
            uses = anywhere[name]
            if not owner or owner == "<locals>":
                uses += by_module[(module.name, name)]
            is_handed = uses == 1 and not handed.isdisjoint({(module.name, name), ("", name)})
            if is_ours or is_listed or is_handed or registered(function):
                continue
            counted += 1
            if uses == 1:
                once.append(f"{module.name}:{function.lineno} {name} ({length(function)} lines)")
    return once, counted


def comments(module: Module) -> int:
    """Count the comments of a module, pragmas apart."""
    tokens = tokenize.generate_tokens(io.StringIO(module.source).readline)
    texts = (each.string for each in tokens if each.type == tokenize.COMMENT)
    return sum(not text.startswith(("# type:", "# noqa", "# pragma", "# fmt")) for text in texts)


def code_lines(module: Module) -> int:
    """Count the lines of a module that are neither blank nor comment nor docstring."""
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(module.source).readline):
        if token.type not in NO_CODE:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            lines.difference_update(range(node.lineno, (node.end_lineno or 0) + 1))
    return len(lines)


def print_packages(every: list[Module]) -> None:
    """Print the lines of code of each package, and of each module beside them, largest first."""
    sizes: Counter[str] = Counter()
    for each in every:
        sizes[each.name.split(".")[1] if "." in each.name else each.name] += code_lines(each)
    print("lines of code by package")
    for name, size in sizes.most_common():
        print(f"  {name:<24} {size}")


def print_static(every: list[Module], chosen: list[Module]) -> list[str]:
    """Print what can be counted without running anything."""
    lengths = [length(function) for each in chosen for _, function in each.functions()]
    lines = sum(each.source.count("\n") for each in chosen)
    once, counted = referenced_once(every, chosen)
    stems = Counter(each.stem for each in chosen)
    shared = {stem: count for stem, count in stems.items() if count > 1}
    spoken = sum(comments(each) for each in chosen)
    sizes = [each.source.count("\n") for each in chosen]
    small = sum(size < 60 for size in sizes)
    print(f"modules                    {len(chosen)}  ({small} under 60 lines)")
    print(f"lines                      {lines}")
    print(f"lines of code              {sum(map(code_lines, chosen))}")
    print(f"functions                  {len(lengths)}")
    middle, tenth = median(lengths), quantiles(lengths, n=10)[-1]
    print(f"  lines: median, p90, max  {middle:.0f}, {tenth:.0f}, {max(lengths)}")
    print(f"  referenced once          {len(once)} of {counted} ({len(once) / counted:.0%})")
    print(f"comments in 100 lines      {100 * spoken / lines:.1f}")
    print(f"modules that share a name  {sum(shared.values())}  {shared or ''}")
    return once


def main() -> None:
    """Print the shape of the package, or of the part that is named."""
    every, wanted = modules(), [each for each in sys.argv[1:] if not each.startswith("-")]
    prefixes = tuple(f"sovl_tools.{name}" for name in wanted)
    chosen = [each for each in every if not wanted or each.name.startswith(prefixes)]
    once = print_static(every, chosen)
    if wanted:
        print(*once, sep="\n")
        return
    print_packages(every)


if __name__ == "__main__":
    main()
