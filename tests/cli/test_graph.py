from __future__ import annotations

from pathlib import Path

from tests.conftest import Run

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
