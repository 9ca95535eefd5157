from __future__ import annotations

from sovl_tools.loading.interface import Interface
from sovl_tools.loading.rules.agreement import disagreements
from sovl_tools.model.folder import Manifest
from sovl_tools.signature.signature import Parameter, Signature


class Incomparable:
    """A default like those of numerical libraries: comparing it gives no truth."""

    def __eq__(self, other: object) -> bool:
        raise ValueError("the truth value is ambiguous")

    __hash__ = object.__hash__


def test_a_default_that_can_not_be_compared_is_left_alone() -> None:
    signature = Signature((Parameter("text", default=Incomparable()),))
    properties = {"text": {"type": "string", "default": "a"}}
    manifest = Manifest({"name": "echo", "parameters": {"properties": properties}}, "")
    assert disagreements(manifest, Interface(signature)) == []
