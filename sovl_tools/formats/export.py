"""Exports: tools in a provider's format, the losses, and arguments back from it."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple, TypeAlias

from sovl_tools.formats.base import Loss, Options, Shape, format_of
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.diagnostic import Diagnostic, internal_verdict
from sovl_tools.model.document import JSON
from sovl_tools.model.errors import ResolutionError, SchemaError
from sovl_tools.schema.engine import compile_schema

_LOGGER = logging.getLogger("sovl_tools")

Diagnose: TypeAlias = Callable[[str, Mapping[str, list[Loss]]], tuple[Diagnostic, ...]]
"""From a target and the losses of each tool to diagnostics, which have their places."""


class Target(NamedTuple):
    """A format as users write it: ``gemini``, ``openai-strict``.

    Attributes:
        name: the format's name.
        options: of the format.
    """

    name: str
    options: Options = Options()

    @classmethod
    def of(cls, text: str) -> Target:
        """Return the target of a name that may end in ``-strict``.

        Raises:
            ValueError: the format is unknown, or has no strict form.
        """
        name = text.removesuffix("-strict")
        format_of(name, strict=name != text)
        return cls(name, Options(strict=name != text))

    def __str__(self) -> str:
        """Return the target as users write it."""
        return f"{self.name}-strict" if self.options.strict else self.name


class Export:
    """Tools in a format. Callers share ``definitions``: don't change them.

    Attributes:
        format: the name of the format.
        definitions: a list of dictionaries, as the provider's SDK takes them; for ``openapi`` one
            document, for ``prompt`` a string.
        shapes: by the names of the tools.
        is_lasting: whether it stays valid while the tools do: no function makes a schema.
    """

    def __init__(
        self,
        target: Target,
        shapes: Mapping[str, Shape],
        losses: Iterable[tuple[str, Loss]] = (),
        *,
        diagnose: Diagnose,
        is_lasting: bool = True,
    ) -> None:
        self.format = target.name
        self.is_lasting = is_lasting
        self._target = target
        form = format_of(target.name)
        found = list(shapes.values())
        self.shapes = shapes
        if form.apply_limits is not None:
            found = form.apply_limits(found, target.options)
            self.shapes = dict(zip(shapes, found, strict=True))
        self.definitions, self._collected = form.collect(found, target.options)
        self._losses = tuple(losses)
        self._diagnose = diagnose

    @property
    def losses(self) -> Iterator[tuple[str, Loss]]:
        """Each loss with the name of its tool, or with an empty name for all tools together."""
        yield from self._losses
        for name, shape in self.shapes.items():
            for loss in shape.losses:
                yield name, loss
        yield from (("", loss) for loss in self._collected)

    @cached_property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """The losses, and the schemas that the provider rejects, as ST9xx."""
        by_tool: dict[str, list[Loss]] = {}
        for name, loss in dict.fromkeys(self.losses):
            by_tool.setdefault(name, []).append(loss)
        return self._diagnose(str(self._target), by_tool)

    @property
    def rejected(self) -> dict[str, str]:
        """The tools that would make the provider reject the whole request, with the reason."""
        return {
            name: f"{loss.message} by {self.format}; {loss.help}"
            for name, shape in self.shapes.items()
            for loss in shape.losses
            if loss.kind in {"name", "limit"}
        }

    def restore(self, name: str, arguments: JSON) -> JSON:
        """Return a model's arguments in the form of the tool's manifest.

        A null that represents an absent property is removed. Other arguments are returned
        unchanged, also if they aren't a JSON object: the call reports that.

        Args:
            name: the tool's name.
            arguments: the model's arguments, an object or its JSON text.
        """
        shape = self.shapes.get(name)
        if shape is None or shape.undo is None:
            return arguments
        given = arguments
        if isinstance(arguments, str | bytes):
            try:
                given = json.loads(arguments)
            except (ValueError, RecursionError):
                return arguments
        if not isinstance(given, dict):
            return arguments
        return shape.undo(given)

    def __repr__(self) -> str:
        return f"<Export of {len(self.shapes)} tools as {self._target}>"


def export_of(tools: Iterable[ToolDefinition], target: Target, diagnose: Diagnose) -> Export:
    """Return tools in a format.

    Skips a tool whose schema can't be made at the moment; a diagnostic reports it.
    """
    form = format_of(target.name, strict=target.options.strict)
    # where a provider limits all tools together, which are strict is decided when all are there
    is_alone = form.apply_limits is not None
    options = target.options._replace(strict=False) if is_alone else target.options
    is_lasting = True
    shapes: dict[str, Shape] = {}
    losses: list[tuple[str, Loss]] = []
    for tool in tools:
        # functions, and methods of an object, can say something else at the next export
        is_lasting = is_lasting and not tool.is_dynamic and tool.instance is None
        try:
            resolved = tool
            if tool.is_dynamic:
                resolved = tool.resolve()
                compile_schema(resolved.parameters)  # what functions make is checked
            if tool.deprecation:  # the model reads it first
                words = f"{tool.deprecation} {tool.description}"
                resolved = replace(resolved, description=words)
            shapes[tool.name] = form.convert(resolved, options)
        except (ResolutionError, SchemaError, RecursionError) as error:
            _LOGGER.warning("tool %s is omitted: %s", tool.name, error)
            losses.append((tool.name, Loss("left_out", (), f"omitted: {error}")))
        except Exception as error:  # noqa: BLE001 - the barrier: the other tools are exported
            found = internal_verdict(error).finding
            losses.append((tool.name, Loss("left_out", (), f"omitted: {found.message}")))
    return Export(target, shapes, losses, diagnose=diagnose, is_lasting=is_lasting)
