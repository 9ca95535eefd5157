from __future__ import annotations

import re
from xml.etree import ElementTree as ET

from hypothesis import given
from hypothesis import strategies as st

from sovl_tools.reporting.outcome import render
from tests.reporting.findings import ODD, WRONG, diagnostic, folder, outcome


def test_every_tool_is_a_case_and_its_errors_are_failures() -> None:
    folders = (folder("echo", "rejected"), folder("other", "loaded"))
    lost = diagnostic(tool=None, path="absent", code="ST101")
    suite = ET.fromstring(render(outcome(WRONG, ODD, lost, folders=folders), "junit"))[0]
    assert {key: suite.attrib[key] for key in ("name", "tests", "failures", "errors")} == {
        "name": "sovl-tools validate",
        "tests": "3",
        "failures": "2",
        "errors": "0",
    }
    echo, other, absent = suite
    assert echo.attrib == {"classname": "tools/echo", "name": "echo"}
    assert [each.tag for each in echo] == ["failure", "system-out"]
    assert echo[0].attrib == {"type": "ST201", "message": "a comma is missing"}
    assert echo[0].text == "tools/echo/x.json:4:3: ST201 a comma is missing"
    assert echo[1].text is not None
    assert echo[1].text.endswith("\nhelp: did you mean 'timeout'?")
    assert list(other) == []
    assert absent.attrib["name"] == "absent"


CHILDREN = {
    "testsuites": {"testsuite"},
    "testsuite": {"testcase"},
    "testcase": {"failure", "skipped", "system-out"},
}
ATTRIBUTES = {
    "testsuites": (set(), {"name", "time", "tests", "failures", "errors"}),
    "testsuite": ({"name", "tests", "failures", "errors"}, {"time", "skipped", "timestamp"}),
    "testcase": ({"name"}, {"time", "classname", "group"}),
    "failure": (set(), {"type", "message"}),
    "skipped": (set(), {"type", "message"}),
}
"""The part of Jenkins' grammar that we write: required and optional attributes of elements."""


def problems_of(element: ET.Element) -> list[str]:
    """Return what Jenkins' grammar refuses in an element."""
    required, optional = ATTRIBUTES.get(element.tag, (set(), set()))
    found = [f"{element.tag} lacks {each}" for each in required - set(element.attrib)]
    found += [f"{element.tag} has {each}" for each in set(element.attrib) - required - optional]
    children = CHILDREN.get(element.tag, set())
    found += [f"{element.tag} holds {each.tag}" for each in element if each.tag not in children]
    return found + [problem for each in element for problem in problems_of(each)]


def test_the_document_is_in_the_grammar_of_jenkins() -> None:
    folders = (folder("echo", "rejected"), folder("other", "loaded"))
    found = outcome(WRONG, ODD, folders=folders, duration=1234.5)
    root = ET.fromstring(render(found, "junit"))
    assert root.tag == "testsuites"
    assert problems_of(root) == []
    assert re.fullmatch(r"\d+(\.\d*)?", root[0].attrib["time"])


@given(text=st.text(max_size=20))
def test_whatever_a_message_holds_it_is_xml(text: str) -> None:
    found = diagnostic(message=text, path=text or "x", tool=text or None, help=text)
    suite = ET.fromstring(render(outcome(found), "junit"))[0]
    assert suite.attrib["failures"] == "1"
