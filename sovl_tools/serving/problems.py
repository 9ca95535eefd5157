"""Problem documents (RFC 9457): how the server tells that a request has no value for its answer."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from http import HTTPStatus
from pathlib import Path
from urllib.parse import quote

from starlette.responses import JSONResponse

from sovl_tools.formats.openapi import ANSWERS, PROBLEM_MEDIA, PROBLEM_TYPE
from sovl_tools.model.content import encodable
from sovl_tools.model.document import JSON, parse_json_path, pointer
from sovl_tools.model.result import BadArgument, Failure
from sovl_tools.registry import ToolRegistry

CLIENT_LEFT = 499
"""The status, which no client reads, of a request whose client didn't wait; nginx has it, too."""


def encoded(value: JSON) -> bytes:
    """Return a JSON value as it is sent; half a surrogate pair is an escape in it."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.encode(errors="backslashreplace")


class ProblemAnswer(JSONResponse):
    """A problem document as the answer to a request."""

    media_type = PROBLEM_MEDIA


def problem(
    status: int, detail: str, headers: Mapping[str, str] | None = None, **members: JSON
) -> ProblemAnswer:
    """Return the answer to a request that is wrong in itself, with further members."""
    document = {"type": "about:blank", "title": HTTPStatus(status).phrase, "status": status}
    return ProblemAnswer({**document, "detail": encodable(detail), **members}, status, headers)


def failed(failure: Failure) -> ProblemAnswer:
    """Return the answer to a call that has no value."""
    return ProblemAnswer(problem_of(failure), ANSWERS[failure.kind].status)


def without_directories(failure: Failure, registry: ToolRegistry) -> Failure:
    """Return why a call failed, for clients: files have the name of their folder and their own.

    Directories of this machine aren't client's business, and don't help a model. Of a tool that
    ran, only those of its code and of Python are omitted: other paths can be its subject.
    """
    details = tuple(
        each._replace(message=_without_code(each.message, registry)) for each in failure.details
    )
    text = _without_code(failure.message, registry)
    if failure.kind == "unavailable":  # which says why a tool did not load
        for path in {each.path for each in registry.report.diagnostics if each.path in text}:
            text = text.replace(path, shortened(path))
    return failure._replace(message=text, details=details)


def shortened(path: str) -> str:
    """Return a path in a tool's folder without the directories above."""
    return "/".join(Path(path).parts[-2:])


def _without_code(text: str, registry: ToolRegistry) -> str:
    """Return a string without the directories of tools and of Python."""
    if os.sep not in text:
        return text
    places = {os.path.dirname(each.location) for each in registry.catalog.candidates}
    known = {os.getcwd(), *sys.path, sys.prefix, sys.base_prefix, *places}
    for each in sorted(known, key=len, reverse=True):
        if len(Path(each).parts) > 1 and each in text:
            text = text.replace(each.rstrip("/\\") + os.sep, "").replace(each, Path(each).name)
    return text


def problem_of(failure: Failure) -> dict[str, JSON]:
    """Return the problem document of a call that has no value."""
    status, title, _ = ANSWERS[failure.kind]
    document = {
        "type": PROBLEM_TYPE + failure.kind,
        "title": title,
        "status": status,
        "detail": encodable(failure.message),
    }
    if failure.details:
        document["errors"] = [_error(each) for each in failure.details]
    return document


def _error(bad: BadArgument) -> dict[str, JSON]:
    try:
        path = parse_json_path(bad.path)
    except ValueError:  # a secret was taken out of the middle of it
        path = ()
    # as a fragment of a URI (RFC 6901), which is what the examples of RFC 9457 have
    fragment = quote(encodable(pointer(path)), safe="/~!$&'()*+,;=:@?")
    return {"pointer": f"#{fragment}", "detail": encodable(bad.message)}
