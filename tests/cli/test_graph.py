from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from sovl_tools.procedures.outline import mermaid
from sovl_tools.procedures.parse.library import read_procedure
from sovl_tools.procedures.procedure import Procedure
from tests.conftest import REPOSITORY, Run
from tests.schema.strategies import moderate
from tests.tables import check_each

EXAMPLES = sorted((REPOSITORY / "docs" / "examples" / "procedures").iterdir())

WHOLE = """\
name: whole
description: Does <everything> & more.
steps:
  - {action: tool, tool: fetch, save_as: page, on_error: {retry: 2, then: continue}}
  - action: if
    condition: page.size > 3
    then: [{action: return, value: "{{ page }}"}]
    else: [{action: wait, seconds: 2, when: page}, {action: shout}]
  - action: for_each
    items: "{{ page.links }}"
    at_once: 2
    steps: [{action: procedure, procedure: other, inputs: {a: 1}}]
  - action: parallel
    name: Both
    timeout: 9
    branches:
      left: [{action: set, values: {a: 1, b: 2}}]
      right: [{action: fail, message: 'say "no"'}]
"""


def test_a_flowchart_has_all_steps_and_ways(run: Run, tmp_path: Path) -> None:
    (tmp_path / "whole.yaml").write_text(WHOLE)
    done = run("show", "whole.yaml", "--format", "mermaid")
    assert (done.code, done.err) == (0, "")
    assert (
        done.out
        == """\
flowchart TD
  start(["whole"])
  n1["tool fetch → page<br/>2 more attempts<br/>continues after a failure"]
  start --> n1
  n2{{"if page.size #62; 3"}}
  n1 --> n2
  n3(["return page"])
  n2 --> |then| n3
  n4["wait 2 s<br/>when page"]
  n2 --> |else| n4
  n5["shout"]
  n4 --> n5
  subgraph n6 ["for each item in page.links<br/>2 at once"]
    n7[["procedure other"]]
  end
  n5 --> n6
  subgraph n8 ["Both<br/>at the same time<br/>at most 9 s"]
    subgraph n9 ["left"]
      n10["set a, b"]
    end
    subgraph n11 ["right"]
      n12[/"fail: say #34;no#34;"/]
    end
  end
  n6 --> n8
  finish(["end"])
  n8 --> finish
  n3 --> finish
"""
    )


def test_a_procedure_is_shown_as_the_tree_that_a_dry_run_prints(run: Run, tmp_path: Path) -> None:
    (tmp_path / "whole.yaml").write_text(WHOLE)
    done = run("show", "whole.yaml")
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines()[:3] == [
        "whole: Does <everything> & more.",
        "├ tool fetch → page  (2 more attempts; continues after a failure)",
        "├ if page.size > 3",
    ]
    assert "shown as text or mermaid" in run("show", "whole.yaml", "--format", "json").err


def test_what_is_no_procedure_is_told(run: Run, tmp_path: Path) -> None:
    (tmp_path / "odd.yaml").write_text("name: odd\nsteps: []\n")
    done = run("show", "odd.yaml")
    assert (done.code, done.out) == (1, "")
    assert "odd.yaml:1:1: ST751 'description' is missing" in done.err


def test_misuse_ends_with_two(run: Run, tmp_path: Path) -> None:
    assert "nowhere.yaml: No such file" in run("show", "nowhere.yaml").err
    (tmp_path / "echo.json").write_text("{}")
    assert "there's no 'tools' here" in run("show", "echo.json").err, "it isn't a procedure"
    (tmp_path / "tools").mkdir()
    assert run("show", "tools", "--format", "mermaid").err == "Error: tools: Is a directory\n"


def check(procedure: Procedure) -> None:
    """Hold a chart to its grammar."""
    names: set[str] = set()
    depth = 0
    for line in mermaid(procedure).splitlines()[1:]:
        text = line.strip()
        arrow = re.fullmatch(r"(\w+) --> (?:\|\w+\| )?(\w+)", text)
        if arrow is not None:
            assert {arrow[1], arrow[2]} <= names
        elif text == "end":
            depth -= 1
        else:
            found = re.fullmatch(
                r'(?:subgraph )?(\w+) ?[\[({/]+"[^"<>`]*(?:<br/>[^"<>`]*)*"[\])}/]+', text
            )
            assert found is not None, text
            names.add(found[1])
            depth += text.startswith("subgraph ")
    assert depth == 0


TEXTS = st.text(min_size=1, max_size=80).filter(str.strip)
LEAVES = st.one_of(
    st.builds(lambda text: {"action": "wait", "seconds": 1, "name": text}, TEXTS),
    st.builds(lambda text: {"action": "fail", "message": text}, st.text(max_size=9)),
    st.builds(lambda text: {"action": "return", "value": text, "when": "x"}, st.text(max_size=9)),
    st.builds(lambda text: {"action": text}, TEXTS.filter(lambda text: text != "if")),
)
NAMES = st.from_regex(r"[A-Za-z_]\w{0,5}", fullmatch=True).filter(str.isascii)


def blocks(inner: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    steps = st.lists(inner, min_size=1, max_size=3)
    return st.one_of(
        st.builds(lambda then: {"action": "if", "condition": "x", "then": then}, steps),
        st.builds(
            lambda one, other: {"action": "if", "condition": "x", "then": one, "else": other},
            steps,
            steps,
        ),
        st.builds(lambda each: {"action": "for_each", "items": [], "steps": each}, steps),
        st.builds(
            lambda branches: {"action": "parallel", "branches": branches},
            st.dictionaries(NAMES, steps, min_size=1, max_size=3),
        ),
    )


STEPS = st.lists(st.recursive(LEAVES, blocks, max_leaves=8), min_size=1, max_size=4)


@moderate
@given(STEPS)
def test_every_procedure_can_be_drawn(steps: list[dict[str, Any]]) -> None:
    document = {"name": "any", "description": "d\x00", "steps": steps}
    found = read_procedure(json.loads(json.dumps(document)))
    if found.procedure is not None:
        check(found.procedure)


@check_each("path", EXAMPLES, ids=[path.stem for path in EXAMPLES])
def test_the_examples_can_be_drawn(path: Path) -> None:
    check(read_procedure(path).sound())
