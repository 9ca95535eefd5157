"""Which findings are shown: by code, by the beginning of a code, or by the name of a rule."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from sovl_tools.configuration import Configuration
from sovl_tools.model.catalog import LoadReport
from sovl_tools.model.diagnostic import Diagnostic
from sovl_tools.model.errors import ConfigurationError, SovlToolsError
from sovl_tools.model.suggestion import did_you_mean


class SelectorError(SovlToolsError, ValueError):
    """A text names no rule."""


def code_of(selector: str) -> str:
    """Return the code, or the beginning of codes, that a selector means.

    It is a name in any case, with hyphens or underscores, or a code or the beginning of one.

    Raises:
        SelectorError: there is no such rule.
    """
    from sovl_tools.linting.rules import RULES  # noqa: PLC0415 - 20 ms, where a rule is named

    code = selector.strip().upper()
    if code and any(known.startswith(code) for known in RULES):
        return code
    codes = {rule.name: code for code, rule in RULES.items()}
    name = selector.strip().lower().replace("_", "-")
    if name in codes:
        return codes[name]
    is_code = code[:2] == "ST" and code[2:].isdigit()
    hint = did_you_mean(code, RULES) if is_code else did_you_mean(name, codes)
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
