from __future__ import annotations

from xml.etree import ElementTree as ET

from hypothesis import given
from hypothesis import strategies as st

from sovl_tools.reporting.outcome import render
from tests.reporting.findings import ODD, WRONG, diagnostic, folder, outcome
from tests.reporting.jenkins import jenkins


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


@given(text=st.text(max_size=20))
def test_whatever_a_message_holds_it_is_xml(text: str) -> None:
    found = diagnostic(message=text, path=text or "x", tool=text or None, help=text)
    written = render(outcome(found), "junit")
    jenkins().validate(written)
    assert ET.fromstring(written)[0].attrib["failures"] == "1"
