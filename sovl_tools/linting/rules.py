"""The one table of all rules, which ``explain`` prints, and what of them is selected."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from sovl_tools.configuration import Configuration
from sovl_tools.loading.location import Locator
from sovl_tools.loading.rules import (
    agreement,
    description,
    drift,
    folder,
    formats,
    manifest,
    module,
    offer,
    schema,
    text,
)
from sovl_tools.loading.rules.folder import Unreadable
from sovl_tools.loading.rules.offer import shared_description
from sovl_tools.loading.sources import read_manifest
from sovl_tools.model.catalog import Candidate, LoadReport
from sovl_tools.model.diagnostic import (
    MAX_FINDINGS,
    Diagnostic,
    Finding,
    Position,
    Rule,
    ask,
    internal_error,
    rule,
)
from sovl_tools.model.errors import ConfigurationError, SovlToolsError
from sovl_tools.model.folder import ToolFolder
from sovl_tools.model.suggestion import did_you_mean
from sovl_tools.procedures.parse import library as procedure_documents
from sovl_tools.procedures.rules import structure


@rule("ST002", "warning")
def unused_suppression(words: str) -> Iterator[Finding]:
    """A file asks to leave out findings of a rule, and nothing is left out by that.

    ``"x-ignore": ["ST306"]`` in a manifest leaves out warnings of that rule for its tool, and the
    comment ``# sovl: ignore[ST408]`` in a module or a procedure those of its line or, where it has
    a line to itself, of its file. This one names no rule, or the rule finds nothing there any more,
    or what it finds is an error, which can't be left out because the tool is not there. Remove it,
    so that it doesn't hide what is wrong later.
    """
    yield Finding(Position(), words, "remove it, or name a rule that warns here")


FAMILIES = {
    "ST0": "sovl-tools itself, and what it is asked to leave out",
    "ST1": "the folder",
    "ST2": "the manifest",
    "ST3": "the parameter schemas",
    "ST4": "the code against the manifest",
    "ST5": "importing the module",
    "ST6": "phrases and step handlers",
    "ST7": "tools in code, and procedures",
    "ST8": "between tools",
    "ST9": "providers' formats",
}

# a rule that is missing here still finds, but explain and --select don't know it
_RULES = (
    internal_error,
    unused_suppression,
    folder.missing_directory,
    folder.invalid_folder_name,
    *folder.RULES,
    folder.no_tools,
    folder.not_as_locked,
    folder.unreadable_file,
    *text.ENCODING_RULES,
    *text.SYNTAX_RULES,
    *text.CONTENT_RULES,
    *manifest.RULES,
    *description.RULES,
    *schema.RULES,
    schema.invalid_example,
    schema.uncompilable_schema,
    schema.endless_references,
    *agreement.RULES,
    *drift.RULES,
    *module.RULES,
    *offer.RULES,
    structure.unreadable_procedure,
    *structure.DOCUMENT_RULES,
    *procedure_documents.RULES,
    offer.duplicate_tool,
    offer.shared_action,
    offer.shared_phrase,
    offer.shared_description,
    *formats.RULES,
)

RULES: dict[str, Rule] = {rule.code: rule for rule in sorted(_RULES, key=lambda rule: rule.code)}
"""Every rule by its code, in the order of the codes."""


_FEWEST_WORDS = 4


def equal_descriptions(candidates: Iterable[Candidate]) -> list[Diagnostic]:
    """Return what is said of tools in folders whose description an earlier one has.

    A hundred are told; who has more has made them with a program.
    """
    found: list[Diagnostic] = []
    known: dict[str, str] = {}
    for each in candidates:
        # what stands in code has no manifest, and nobody is offered the others
        if each.line or each.status != "loaded":
            continue
        folder = ToolFolder(each.name, each.path, each.location)
        reading = read_manifest(folder)
        if isinstance(reading, Unreadable) or reading.manifest is None:
            continue
        manifest = reading.manifest
        words = str(manifest.document.get("description", "")).casefold().split()
        first = known.setdefault(" ".join(words), each.name)
        if first != each.name and len(words) >= _FEWEST_WORDS:
            verdicts = ask((shared_description,), first)
            found += Locator(folder, manifest.text).diagnostics(verdicts)
            if len(found) == MAX_FINDINGS:
                break
    return found


CODES = {rule.name: code for code, rule in RULES.items()}
"""The code of each rule by its name."""


class SelectorError(SovlToolsError, ValueError):
    """A text names no rule."""


def code_of(selector: str) -> str:
    """Return the code, or the beginning of codes, that a selector stands for.

    It is a name in any case, with hyphens or underscores, or a code or the beginning of one.

    Raises:
        SelectorError: there is no such rule.
    """
    code = selector.strip().upper()
    if code and any(known.startswith(code) for known in RULES):
        return code
    name = selector.strip().lower().replace("_", "-")
    if name in CODES:
        return CODES[name]
    is_code = code[:2] == "ST" and code[2:].isdigit()
    hint = did_you_mean(code, RULES) if is_code else did_you_mean(name, CODES)
    words = f"there is no {'code' if is_code else 'rule'} {selector!r}"
    raise SelectorError(f"{words}; {hint or 'sovl-tools explain lists them'}")


def codes_of(selectors: Iterable[str]) -> tuple[str, ...]:
    """Return the codes, or their beginnings, of several selectors.

    Raises:
        SelectorError: one of them names no rule.
    """
    return tuple(map(code_of, selectors))


@dataclass(frozen=True, slots=True)
class Selection:
    """What is shown, as codes and beginnings of codes; the longest that fits decides.

    Where one is selected and ignored at the same length, nothing is shown.

    Attributes:
        select: what is shown; all if it is empty.
        extend_select: what is shown besides.
        ignore: what is not shown.
        per_tool: what is not shown of tools whose names match a pattern.
    """

    select: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    per_tool: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def shows(self, diagnostic: Diagnostic) -> bool:
        """Tell whether a diagnostic is shown."""
        code, tool = diagnostic.code, diagnostic.tool
        ignored = list(self.ignore)
        for pattern, codes in self.per_tool.items():
            if tool is not None and fnmatchcase(tool, pattern):
                ignored += codes
        selected = [*(self.select or ("ST",)), *self.extend_select]
        return _longest(code, selected) > _longest(code, ignored)

    def of(self, report: LoadReport) -> LoadReport:
        """Return a report with nothing but what is shown."""
        return report.showing(tuple(filter(self.shows, report.diagnostics)))


def selection_of(
    found: Configuration,
    select: Sequence[str] = (),
    extend_select: Sequence[str] = (),
    ignore: Sequence[str] = (),
) -> Selection:
    """Return what is shown; codes that are given here win over those of the configuration.

    Raises:
        ConfigurationError: the configuration names a rule that there is not.
    """

    def configured(key: str, selectors: Sequence[str]) -> tuple[str, ...]:
        try:
            return codes_of(selectors)
        except SelectorError as error:
            raise ConfigurationError(f"{found.file}: {key}", str(error)) from error

    return Selection(
        tuple(select) or configured("select", found.select),
        (*configured("extend-select", found.extend_select), *extend_select),
        tuple(ignore) or configured("ignore", found.ignore),
        {
            pattern: configured(f"per-tool-ignores.{pattern}", rules)
            for pattern, rules in found.per_tool_ignores.items()
        },
    )


def _longest(code: str, beginnings: Iterable[str]) -> int:
    return max((len(each) for each in beginnings if code.startswith(each)), default=0)


def strict(report: LoadReport) -> LoadReport:
    """Return a report with every warning made an error."""
    found = tuple(each._replace(severity="error") for each in report.diagnostics)
    return report.showing(found)
