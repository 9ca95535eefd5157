"""What is refused in a request before its body is looked at."""

from __future__ import annotations

import json
from collections.abc import Iterator

from sovl_tools.testing.record import Objection, Request


def of_openai(request: Request) -> Iterator[Objection]:
    """Yield what OpenAI refuses: no key, or a body that is no object."""
    if not request.headers.get("authorization", "").removeprefix("Bearer").strip():
        yield Objection(
            "You didn't provide an API key. You need to provide your API key in an Authorization"
            " header using Bearer auth (i.e. Authorization: Bearer YOUR_KEY).",
            status=401,
        )
    if not is_object(request):
        yield Objection(
            "We could not parse the JSON body of your request. The OpenAI API expects a JSON"
            " payload, but what was sent was not valid JSON."
        )


def of_anthropic(request: Request) -> Iterator[Objection]:
    """Yield what Anthropic refuses: no key, no version, or a body that is no object."""
    headers = request.headers
    if not (headers.get("x-api-key") or headers.get("authorization")):
        yield Objection("x-api-key header is required", status=401)
    if "anthropic-version" not in headers:
        yield Objection("anthropic-version: header is required")
    if not is_object(request):
        yield Objection("The request body is not valid JSON: expected an object")


def is_object(request: Request) -> bool:
    """Tell whether the body is a JSON object."""
    try:
        return isinstance(json.loads(request.content), dict)
    except ValueError:
        return False
