"""Sound procedures, for property tests.

Their tools are ``work`` and ``look``, which take a label and two numbers and return a number, and
``refuse``, which takes a label and fails. No label is used twice in a run, other than by attempts.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from hypothesis import strategies as st

from tests.procedures.workshop import call, inputs, procedure, returning, values

INNER = procedure(
    call("work", "sum", label="{{ inputs.label }}", a="{{ inputs.a }}", b=1),
    returning("{{ sum * 2 }}"),
    name="inner",
    inputs=inputs("label", "a", label={"type": "string"}, a={"type": "integer"}),
)
"""What a generated procedure can run."""


class Place(NamedTuple):
    """Where steps are generated.

    Attributes:
        numbers: variables that are there for certain and hold integers.
        own: those of them that can be assigned again.
        loops: expressions that tell the iterations apart.
        depth: how many steps may lie in each other here.
    """

    numbers: tuple[str, ...]
    own: tuple[str, ...]
    loops: tuple[str, ...] = ()
    depth: int = 2

    def with_number(self, name: str) -> Place:
        return self._replace(numbers=(*self.numbers, name), own=(*self.own, name))


class Writer:
    """Draws steps; every name and every label is new."""

    def __init__(self, draw: st.DrawFn) -> None:
        self._draw = draw
        self._count = 0

    def steps(self, place: Place, most: int = 4) -> tuple[list[dict[str, Any]], Place]:
        """Return some steps, and what is there after them."""
        made = []
        for _ in range(self._draw(st.integers(1, most))):
            kinds = _LEAVES if place.depth == 0 else _LEAVES + _BLOCKS
            step, place = self._draw(st.sampled_from(kinds))(self, place)
            made.append(step)
        return made, place

    def new(self) -> str:
        self._count += 1
        return f"v{self._count}"

    def label(self, place: Place) -> str:
        self._count += 1
        return "-".join([f"s{self._count}", *(f"{{{{ {each} }}}}" for each in place.loops)])

    def number(self, place: Place) -> Any:
        """Return a number, or a template that gives one."""
        name = self._draw(st.sampled_from(place.numbers))
        plain = st.integers(-5, 5)
        known = st.sampled_from([f"{{{{ {name} }}}}", f"{{{{ {name} % 7 + 1 }}}}"])
        return self._draw(plain | known)

    def condition(self, place: Place) -> str:
        name = self._draw(st.sampled_from(place.numbers))
        return f"{name} % 3 > {self._draw(st.integers(-1, 1))}"

    def tool(self, place: Place) -> tuple[dict[str, Any], Place]:
        name, tool = self.new(), self._draw(st.sampled_from(["work", "look"]))
        given = {"label": self.label(place), "a": self.number(place), "b": self.number(place)}
        return call(tool, name, **given), place.with_number(name)

    def assignment(self, place: Place) -> tuple[dict[str, Any], Place]:
        name = self._draw(st.sampled_from([self.new(), *place.own]))
        return values(**{name: self.number(place)}), place.with_number(name)

    def skipped(self, place: Place) -> tuple[dict[str, Any], Place]:
        step, _ = self.tool(place)
        return {**step, "when": self.condition(place)}, place

    def refused(self, place: Place) -> tuple[dict[str, Any], Place]:
        policy = self._draw(
            st.sampled_from(["continue", {"retry": 2, "delay": 0, "then": "continue"}])
        )
        step = call("refuse", self.new(), label=self.label(place))
        return {**step, "on_error": policy}, place

    def waiting(self, place: Place) -> tuple[dict[str, Any], Place]:
        return {"action": "wait", "seconds": 0}, place

    def other(self, place: Place) -> tuple[dict[str, Any], Place]:
        name = self.new()
        given = {"label": self.label(place), "a": self.number(place)}
        step = {"action": "procedure", "procedure": "inner", "inputs": given, "save_as": name}
        return step, place.with_number(name)

    def choice(self, place: Place) -> tuple[dict[str, Any], Place]:
        inner = place._replace(depth=place.depth - 1)
        then, after = self.steps(inner, 3)
        otherwise, other = self.steps(inner, 3)
        step = {"action": "if", "condition": self.condition(place), "then": then}
        both = tuple(each for each in after.numbers if each in other.numbers)
        own = tuple(each for each in both if each in after.own and each in other.own)
        return {**step, "else": otherwise}, place._replace(numbers=both, own=own)

    def loop(self, place: Place) -> tuple[dict[str, Any], Place]:
        item, name = self.new(), self.new()
        numbers = (*place.numbers, item)
        inner = Place(numbers, place.own, (*place.loops, item), place.depth - 1)
        steps, after = self.steps(inner, 3)
        items = self._draw(st.lists(st.integers(0, 9), max_size=4, unique=True))
        step = {
            "action": "for_each",
            "items": items,
            "as": item,
            "at_once": self._draw(st.integers(1, 3)),
            "steps": steps,
            "result": f"{{{{ {after.numbers[-1]} }}}}",
            "save_as": name,
        }
        total = self.new()
        block = {
            "action": "if",
            "condition": True,
            "then": [step, values(**{total: f"{{{{ {name} | sum }}}}"})],
        }
        return block, place

    def branches(self, place: Place) -> tuple[dict[str, Any], Place]:
        inner = place._replace(own=(), depth=place.depth - 1)
        left, after = self.steps(inner, 3)
        right, other = self.steps(inner, 3)
        step = {"action": "parallel", "branches": {"left": left, "right": right}}
        new = (*after.own, *other.own)
        return step, place._replace(numbers=(*place.numbers, *new), own=(*place.own, *new))

    def guarded(self, place: Place) -> tuple[dict[str, Any], Place]:
        """Return a block that fails at its end."""
        step, _ = self.tool(place)
        end = call("refuse", label=self.label(place))
        policy = self._draw(
            st.sampled_from(["continue", {"retry": 1, "delay": 0, "then": "continue"}])
        )
        block = {"action": "if", "condition": True, "then": [step, end], "on_error": policy}
        return block, place


_LEAVES = [Writer.tool, Writer.tool, Writer.assignment, Writer.skipped, Writer.refused]
_LEAVES += [Writer.waiting, Writer.other]
_BLOCKS = [Writer.choice, Writer.loop, Writer.branches, Writer.branches, Writer.guarded]


@st.composite
def procedures(draw: st.DrawFn) -> dict[str, Any]:
    """Return a procedure that is sound, runs to its end and returns its numbers."""
    steps, place = Writer(draw).steps(Place(("inputs.n",), ()), 5)
    output = {each: f"{{{{ {each} }}}}" for each in place.numbers}
    schema = inputs("n", n={"type": "integer"})
    return procedure(*steps, inputs=schema, output=output)
