"""The maps for whoever changes the project name only what is there."""

from __future__ import annotations

import re
from inspect import signature

from sovl_tools import Agent
from sovl_tools.model.diagnostic import FILE_SUFFIXES
from sovl_tools.model.folder import IMPORT_TIMEOUT
from sovl_tools.procedures.parse.files import SUFFIXES
from sovl_tools.procedures.procedure import MAX_BYTES, MAX_VALUES
from sovl_tools.reloading.watcher import EMPTIED, LONGEST, QUIET
from sovl_tools.serving.limits import MOST_TOKENS, MOST_TOOLS
from tests.conftest import REPOSITORY
from tests.tables import check_each

PATH = re.compile(r"`((?:sovl_tools|schemas|scripts|tests|docs)/[\w./-]*\w/?)`")


@check_each("page", ["CONTRIBUTING.md", "docs/architecture.md", "docs/explanation/performance.md"])
def test_every_path_on_a_map_is_there(page: str) -> None:
    named = set(PATH.findall((REPOSITORY / page).read_text(encoding="utf-8")))
    assert named
    assert [path for path in sorted(named) if not (REPOSITORY / path).exists()] == []


@check_each(
    ("page", "words"),
    [
        ("docs/reference/module.md", f"It has {IMPORT_TIMEOUT:g} seconds"),
        ("docs/reference/configuration.md", f"in seconds: {IMPORT_TIMEOUT:g} unless"),
        ("docs/reference/procedure.md", f"{MAX_BYTES >> 20} MiB"),
        ("docs/reference/procedure.md", f"{MAX_VALUES:,} values"),
        ("docs/serving.md", f"more than {MOST_TOOLS} tools"),
        ("docs/how-to/agent.md", f"providers take {MOST_TOOLS} at most"),
        ("docs/serving.md", f"more than {MOST_TOKENS:,} tokens"),
        (
            "docs/how-to/agent.md",
            f"`max_tools` ({signature(Agent).parameters['max_tools'].default})",
        ),
        ("docs/how-to/reload.md", f"for {QUIET * 1000:g} ms, at most for {LONGEST:g} s"),
        ("docs/how-to/reload.md", f"it is {EMPTIED * 1000:g} ms"),
    ],
)
def test_guides_quote_the_constants(page: str, words: str) -> None:
    assert words in " ".join((REPOSITORY / page).read_text(encoding="utf-8").split())


def test_findings_in_procedures_are_quoted_whatever_the_suffix() -> None:
    assert {*SUFFIXES} <= {*FILE_SUFFIXES}
