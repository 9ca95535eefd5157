"""What the package exports is what the server accepts: two readings of the providers' rules."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from sovl_tools import ToolRegistry
from sovl_tools.testing import Request
from sovl_tools.testing.script import Memory
from sovl_tools.testing.server import APIS
from tests.conftest import REPOSITORY
from tests.formats.exports import registry_of
from tests.formats.schemas import manifests, moderate, parameters
from tests.formats.scope import PLAIN_NAMES
from tests.tables import check_each
from tests.testing.test_requests import BODIES, HEADERS, PATHS

PROVIDER = pytest.mark.parametrize("provider", PATHS)


def refused(provider: str, definitions: Any) -> list[str]:
    path = PATHS[provider]
    body = {**BODIES[provider], "tools": definitions}
    request = Request(provider, path, HEADERS[provider], b"{}", body)
    return [each.message for each in APIS[path].objections(request, Memory())]


@PROVIDER
@check_each("strict", [False, True])
def test_the_tools_of_the_repository_are_accepted(provider: str, *, strict: bool) -> None:
    registry = ToolRegistry.from_directory(str(REPOSITORY / "tools"))
    assert len(list(registry)) > 1
    assert refused(provider, registry.definitions(provider, strict=strict)) == []


@PROVIDER
@given(manifest=manifests(parameters(PLAIN_NAMES)))
@moderate
def test_what_is_exported_is_accepted(provider: str, manifest: dict[str, Any]) -> None:
    registry = registry_of(manifest)
    for strict in (False, True):
        assert refused(provider, registry.definitions(provider, strict=strict)) == []
