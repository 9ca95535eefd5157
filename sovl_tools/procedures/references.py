"""The variables that a template reads."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping
from typing import Any, NamedTuple

from jinja2 import nodes

from sovl_tools.procedures.language import Reference


class Chain(NamedTuple):
    """A name with what is behind it, as far as that is constant.

    ``dynamic`` are the subscripts that are not.
    """

    root: nodes.Node
    attributes: tuple[str | int, ...]
    dynamic: tuple[nodes.Node, ...]


def chain(node: nodes.Node) -> Chain:
    """Return what an expression such as ``page.links[0]`` is made of."""
    attributes: list[str | int] = []
    dynamic: list[nodes.Node] = []
    while isinstance(node, nodes.Getitem):
        key = _constant(node.arg)
        if key is None:
            attributes.clear()
            dynamic.append(node.arg)
        else:
            attributes.append(key)
        node = node.node
    return Chain(node, tuple(reversed(attributes)), tuple(dynamic))


def _constant(node: nodes.Node) -> str | int | None:
    try:
        value = node.as_const() if isinstance(node, nodes.Expr) else None
    except nodes.Impossible:
        return None
    return value if type(value) in {str, int} else None


def references(tree: nodes.Node, known: Container[str]) -> tuple[Reference, ...]:
    """Return the variables that a tree reads and does not bind, in their order.

    Args:
        tree: of a template or an expression, made for data.
        known: names that need not be variables.
    """
    walk = _Walk(known)
    walk.visit(tree, set())
    found = sorted(walk.found, key=lambda each: each.offset)
    return tuple(
        each._replace(is_guarded=each.is_guarded or walk.is_tested(each)) for each in found
    )


class _Walk:
    """Goes through a tree and knows which names are bound where it is."""

    def __init__(self, known: Container[str]) -> None:
        self.found: list[Reference] = []
        self._known = known
        self._tested: list[tuple[str, tuple[str | int, ...]]] = []

    def is_tested(self, reference: Reference) -> bool:
        """Tell whether a test asks whether the variable, or a part of it, is there."""
        return any(
            name == reference.name and reference.attributes[: len(attributes)] == attributes
            for name, attributes in self._tested
        )

    def visit(self, node: nodes.Node, bound: set[str]) -> None:
        """Note what a node reads; what it binds is bound for those after it."""
        visitor = _VISITORS.get(type(node))
        if visitor is None:
            self._all(node.iter_child_nodes(), bound)
        else:
            visitor(self, node, bound)

    def _all(self, nodes_: Iterable[nodes.Node | None], bound: set[str]) -> None:
        for each in nodes_:
            if each is not None:
                self.visit(each, bound)

    def name(self, node: Any, bound: set[str]) -> None:
        if node.ctx == "load":
            self.item(node, bound)
        else:
            bound.add(node.name)

    def item(self, node: nodes.Node, bound: set[str], *, is_guarded: bool = False) -> None:
        root, attributes, dynamic = chain(node)
        if not isinstance(root, nodes.Name):
            self.visit(root, bound)
        elif root.name not in bound and root.name not in self._known:
            offset = root.lineno - 1
            self.found.append(Reference(root.name, attributes, offset, is_guarded))
        self._all(dynamic, bound)

    def filter(self, node: Any, bound: set[str]) -> None:
        if node.node is not None:
            if node.name in {"default", "d"}:
                self.item(node.node, bound, is_guarded=True)
            else:
                self.visit(node.node, bound)
        self._all(node.iter_child_nodes(exclude=("node",)), bound)

    def test(self, node: Any, bound: set[str]) -> None:
        root, attributes, _ = chain(node.node)
        if node.name in {"defined", "undefined"} and isinstance(root, nodes.Name):
            self._tested.append((root.name, attributes))
        self._all(node.iter_child_nodes(), bound)

    def loop(self, node: Any, bound: set[str]) -> None:
        self.visit(node.iter, bound)
        inner = bound | {"loop"}
        self.visit(node.target, inner)
        self._all([node.test, *node.body], inner)
        self._all(node.else_, set(bound))

    def condition(self, node: Any, bound: set[str]) -> None:
        self.visit(node.test, bound)
        before = set(bound)
        for block in (node.body, node.elif_, node.else_):
            inner = set(before)
            self._all(block, inner)
            # what one way binds may be bound
            bound |= inner

    def scope(self, node: Any, bound: set[str]) -> None:
        self._all(node.values, bound)
        inner = set(bound) | {each.name for each in _targets(node.targets)}
        self._all(node.body, inner)

    def assignment(self, node: Any, bound: set[str]) -> None:
        self.visit(node.node, bound)
        self.visit(node.target, bound)

    def block(self, node: Any, bound: set[str]) -> None:
        self._all([node.filter, *node.body], set(bound))
        target = getattr(node, "target", None)
        self._all([target], bound)


def _targets(targets: Iterable[nodes.Node]) -> Iterable[nodes.Name]:
    for target in targets:
        if isinstance(target, nodes.Name):
            yield target
        else:
            yield from target.find_all(nodes.Name)


_VISITORS: Mapping[type[nodes.Node], Callable[[_Walk, Any, set[str]], None]] = {
    nodes.Assign: _Walk.assignment,
    nodes.AssignBlock: _Walk.block,
    nodes.Filter: _Walk.filter,
    nodes.FilterBlock: _Walk.block,
    nodes.For: _Walk.loop,
    nodes.Getitem: _Walk.item,
    nodes.If: _Walk.condition,
    nodes.Name: _Walk.name,
    nodes.Test: _Walk.test,
    nodes.With: _Walk.scope,
}
