"""What the checks say of a manifest and of a module: errors at once, warnings when asked for."""

from __future__ import annotations

import json
from collections.abc import Mapping

from sovl_tools.loading.interface import Interface
from sovl_tools.loading.rules import agreement, offer, schema
from sovl_tools.loading.rules.schema import ExampleCase, refused_example
from sovl_tools.model.diagnostic import Severity, Verdict, ask, has_errors
from sovl_tools.model.document import JSON
from sovl_tools.model.errors import SchemaError
from sovl_tools.model.folder import Manifest
from sovl_tools.schema.engine import compile_schema
from sovl_tools.schema.fit import surely_fits
from sovl_tools.schema.visitor import visit

SEVERITIES: tuple[Severity, ...] = ("error", "warning")
_SCHEMAS = ("parameters", "output_schema")
_SCHEMA_RULES = {severity: schema.RULES.only(severity) for severity in SEVERITIES}


def schema_verdicts(
    document: Mapping[str, JSON], severity: Severity, *, compiles: bool = False
) -> list[Verdict]:
    """Return what is wrong with the schemas of a manifest, which the meta-schema accepts.

    ``compiles`` makes a validator of each, not only of those that hold what nobody else looks at.
    """
    verdicts: list[Verdict] = []
    for key in _SCHEMAS:
        if key in document:
            verdicts += _root_verdicts(key, document[key], severity, compiles=compiles)
    return verdicts


def _root_verdicts(
    key: str, root: dict[str, JSON], severity: Severity, *, compiles: bool
) -> list[Verdict]:
    seen = visit(root, (key,), _SCHEMA_RULES[severity])
    if seen.references and seen.could_multiply:
        found = ask((schema.endless_expansion,), schema.WholeSchema((key,), root))
        if found:  # others would ask the engine, which would never answer
            return found if severity == "error" else []
    found = seen.verdicts() if seen.due else []
    if severity == "error" and (compiles or seen.is_doubtful) and not has_errors(found):
        found += ask((schema.uncompilable,), schema.WholeSchema((key,), root))
    return found


def interface_verdicts(
    checked: Manifest, interface: Interface, severity: Severity
) -> list[Verdict]:
    """Return what is wrong with what a module offers, held against a manifest that is sound.

    Values are compared for warnings alone.
    """
    agreed = agreement.AgreementCase.between(checked, interface)
    if severity == "warning":
        agreed = agreed.with_values()
    found = agreement.RULES.verdicts(agreed, severity)
    return found + offer.RULES.verdicts(offer.OfferCase(interface, checked.phrases), severity)


def example_verdicts(manifest: Manifest) -> list[Verdict]:
    """Return what the parameters refuse in the inputs of the examples."""
    doubtful: list[ExampleCase] = []
    for index, example in enumerate(manifest.document.get("examples", ())):
        arguments = arguments_of(example)
        if arguments is not None and not surely_fits(arguments, manifest.parameters):
            doubtful.append(ExampleCase(("examples", index, "input"), arguments, []))
    if not doubtful:  # compiling the schema is what costs
        return []
    try:
        validator = compile_schema(manifest.parameters)
    except SchemaError:
        return []
    checked = [case._replace(problems=validator.problems(case.arguments)) for case in doubtful]
    return [verdict for case in checked for verdict in ask((refused_example,), case)]


def arguments_of(example: dict[str, JSON]) -> dict[str, JSON] | None:
    """Return an example's arguments, or None if its input is text that is only shown."""
    given = example["input"]
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except (ValueError, RecursionError):
            return None
    return given if isinstance(given, dict) else None
