"""The case for rules about a manifest and its code."""

from __future__ import annotations

import re
from keyword import iskeyword
from typing import NamedTuple

from sovl_tools.loading.import_errors import without_modules
from sovl_tools.loading.interface import Interface
from sovl_tools.model.diagnostic import (
    ManifestPlace,
    ModulePlace,
    Place,
)
from sovl_tools.model.document import JSON, Path
from sovl_tools.model.folder import Manifest
from sovl_tools.schema.applicators import exclude_each_other, numeric
from sovl_tools.schema.names import ArgumentNames, argument_names
from sovl_tools.signature.agreement import (
    PARAMETERS,
    Difference,
    Kind,
    converted,
    differences,
    value_differences,
)
from sovl_tools.signature.inference import Inference
from sovl_tools.signature.signature import BY_KEYWORD, REQUIRED, Signature

PROPERTIES: Path = (*PARAMETERS, "properties")
_BUNDLES = frozenset(
    {"args", "arguments", "data", "input", "inputs", "kwargs", "params", "parameters", "payload"}
)
_DICTIONARY = re.compile(r"(typing\.)?(dict|Dict|Mapping)\b")


class AgreementCase(NamedTuple):
    """A manifest's arguments, the module's offer, and the function's differences from them.

    ``converted`` are the parameters whose calls reject values that their annotations don't admit;
    ``implied`` is the function's description of its arguments, where values were compared.
    """

    name: str
    parameters: dict[str, JSON]
    interface: Interface
    differences: tuple[Difference, ...] = ()
    converted: frozenset[str] = frozenset()
    implied: Inference | None = None

    @classmethod
    def between(cls, manifest: Manifest, interface: Interface) -> AgreementCase:
        """Return the case of a manifest, whose parameters are a schema, and its module."""
        name, parameters = manifest.document["name"], manifest.document["parameters"]
        signature = interface.signature
        if signature is None:
            return cls(name, parameters, interface)
        found = tuple(differences(signature, parameters))
        names = converted(signature).intersection(argument_names(parameters).places)
        return cls(name, parameters, interface, found, names)

    @property
    def signature(self) -> Signature:
        """The function's signature, an empty one if there's no function."""
        return self.interface.signature or Signature()

    @property
    def names(self) -> ArgumentNames:
        """The names of the arguments."""
        return argument_names(self.parameters)

    @property
    def properties(self) -> dict[str, Path]:
        """The places of the arguments' schemas in the parameters' schema."""
        return self.names.places

    @property
    def keywords(self) -> list[str]:
        """The names of the parameters that an argument of the model can be given to."""
        return [
            each.name
            for each in self.signature.parameters
            if each.kind in BY_KEYWORD and not each.annotation.is_context
        ]

    @property
    def spare(self) -> list[str]:
        """The parameters without a property that a property can be meant for."""
        return [each for each in self.keywords if each not in self.properties]

    @property
    def annotations(self) -> dict[str, str]:
        """The text of the annotation of each parameter."""
        parameters = self.signature.parameters
        return {each.name: without_modules(each.annotation.text) for each in parameters}

    @property
    def bundle(self) -> str | None:
        """The one parameter that is meant to receive all arguments together, as a dictionary."""
        own = [
            each
            for each in self.signature.parameters
            if not each.annotation.is_context and each.kind not in {"var_keyword", "var_positional"}
        ]
        if len(own) != 1 or not self.properties or own[0].name in self.properties:
            return None
        name, kind, default, annotation = own[0]
        is_meant = name in _BUNDLES or bool(_DICTIONARY.match(annotation.text or ""))
        return name if is_meant and kind in BY_KEYWORD and default is REQUIRED else None

    @property
    def definition(self) -> str:
        """The head of a function that takes the arguments."""
        required = self.names.required
        names = [each for each in self.properties if each.isidentifier() and not iskeyword(each)]
        names.sort(key=lambda name: name not in required)
        shown = [name if name in required else f"{name}=None" for name in names]
        return f"def {self.name}({', '.join(shown)}): …"

    def of(self, kind: Kind) -> list[Difference]:
        """Return the differences of one kind."""
        return [each for each in self.differences if each.kind == kind]

    def place(self, difference: Difference) -> Place:
        """Return the parameter that a difference is about; the manifest's place of an inner one."""
        if difference.name in self.properties:
            return ModulePlace(self.name, difference.name)
        return ManifestPlace(difference.path)

    def with_values(self) -> AgreementCase:
        """Return the case with the differences in values, which never stop a load."""
        if self.interface.signature is None or not self.signature.is_function:
            return self
        implied = self.interface.implied()
        every = value_differences(self.parameters, implied.with_all_defaults)
        if any(each.kind == "null" for each in every):
            # @tool omits null where it means the same as omitting a field
            wide = self.interface.implied_by_annotations().parameters
            nulls = {
                each.path
                for each in value_differences(self.parameters, wide)
                if each.kind == "null"
            }
            every = [each for each in every if each.kind != "null" or each.path in nulls]
        nullable = {each.name for each in self.signature.parameters if each.annotation.optional}
        found = [
            each
            for each in every
            # where both admit null, a tool can be meant to receive null only
            if each.name not in nullable or not _is_about_null(each)
        ]
        return self._replace(differences=(*self.differences, *found), implied=implied)

    def is_refused(self, difference: Difference) -> bool:
        """Return whether a call rejects values that the manifest names outright."""
        return difference.kind in _REFUSED and argument_of(difference) in self.converted


def _is_about_null(each: Difference) -> bool:
    is_type = each.kind == "types" and "null" in each.said and excludes(each)
    return each.kind == "null" or is_type


_REFUSED = frozenset({"types", "alternative", "value", "bounds", "superfluous", "missing"})


def argument_of(difference: Difference) -> str:
    """Return the parameter whose value has a difference."""
    return re.split(r"[.\[]", difference.name, maxsplit=1)[0]


def excludes(difference: Difference) -> bool:
    """Return whether no value has a type of both the manifest and the function."""
    return exclude_each_other(numeric(difference.said), numeric(difference.own))
