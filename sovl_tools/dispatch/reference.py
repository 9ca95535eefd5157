"""The task that is sent to another process, its arguments, and its outcome.

Functions stay where they were imported. A worker process loads the tool itself, by its reference,
and rejects if that is not the version which the caller means.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any, NamedTuple, TypeAlias

from sovl_tools.authoring.decorator import ATTRIBUTE, definition_of
from sovl_tools.loading.modules import Sources, sources_of
from sovl_tools.loading.sources import framed
from sovl_tools.model.call import LogMessage, Progress
from sovl_tools.model.content import Content
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.document import JSON
from sovl_tools.model.errors import UnavailableError
from sovl_tools.model.folder import ToolFolder
from sovl_tools.model.result import Failure

Drafts: TypeAlias = tuple[tuple[str, bytes], ...]
"""The manifest and the Python files of a folder, by their relative paths."""


class FolderReference(NamedTuple):
    """Names one version of the tool of a folder.

    Attributes:
        name: the folder's, and the tool's.
        path: the folder as the caller named it.
        location: its absolute path.
        revision: see ``ToolFolder``.
        digest: of the manifest and the sources.
        locked: the hashes that a lock file has of it.
    """

    name: str
    path: str
    location: str
    revision: str
    digest: str
    locked: Mapping[str, str] | None

    def folder(self, drafts: Drafts = ()) -> ToolFolder:
        """Return the folder; with drafts those represent its files."""
        return ToolFolder(
            self.name,
            self.path,
            self.location,
            revision=self.revision,
            drafts=drafts,
        )


class CodeReference(NamedTuple):
    """Names a tool in code.

    Attributes:
        name: the tool's.
        module: where its function is.
        attribute: the function's qualified name there.
        properties: the names of the tool's parameters.
    """

    name: str
    module: str
    attribute: str
    properties: tuple[str, ...]


Reference: TypeAlias = FolderReference | CodeReference


class Target(NamedTuple):
    """What all calls of a tool from one process have in common.

    Attributes:
        reference: the tool.
        process: the caller's process, by its id.
        memory_mb: the memory a call can use in addition to the worker's, in MiB.
        environment: the variables that are passed on next to a base; None for all.
        is_patient: whether the tool can see that its call was cancelled.
        is_idempotent: whether an executor may make a call again.
    """

    reference: Reference
    process: int
    memory_mb: int | None = None
    environment: tuple[str, ...] | None = None
    is_patient: bool = False
    is_idempotent: bool = False


class Task(NamedTuple):
    """One call for another process. It travels as a plain tuple, which takes a fifth of the time.

    Attributes:
        target: the tool's, pickled once for all calls.
        keywords: the checked arguments.
        call_id: the caller's.
        is_stream: whether the items of a generator are sent one by one.
        is_traced: whether the traceback of a failure is wanted.
        drafts: the sources, where the worker's folder has another version.
    """

    target: bytes
    keywords: dict[str, Any]
    call_id: str
    is_stream: bool = False
    is_traced: bool = False
    drafts: Drafts = ()


Event: TypeAlias = Progress | LogMessage


class TaskResult(NamedTuple):
    """The outcome of a task; it is sent as a plain tuple, too.

    Attributes:
        value: the result as JSON.
        content: its blocks, if it has any.
        failure: why there's no value.
        trace: the traceback of a failure, if it was wanted.
        events: the tool's reports, where they could not be sent at once.
        needs_sources: whether the worker has not got this version of the tool.
    """

    value: JSON = None
    content: tuple[Content, ...] = ()
    failure: Failure | None = None
    trace: str = ""
    events: tuple[Event, ...] = ()
    needs_sources: bool = False


Fields: TypeAlias = tuple[Any, ...]
"""A Task or a TaskResult on its way."""


Receive: TypeAlias = Callable[[str, Any], None]
"""Takes a running call's messages: ``"event"``, ``"stream"`` or ``"item"``, and the
that is; an exception ends the call."""


def digest_of(name: str, drafts: Drafts, revision: str) -> str:
    """Return a hash of the manifest and the sources of a tool."""
    return sha256(framed({**dict(drafts), f"{name} {revision}": b""})).hexdigest()


def drafts_of(sources: Sources) -> Drafts:
    """Return the files that a tool was made of, the manifest first."""
    text = sources.manifest.encode("utf-8", "surrogatepass")
    snapshot = sources.snapshot
    return ((snapshot.folder.manifest_name, text), *sorted(snapshot.files.items()))


def reference_of(tool: ToolDefinition) -> tuple[Reference, Drafts]:
    """Return the tool's reference for another process, with its sources if it is a folder.

    Raises:
        UnavailableError: it has no such reference; the message gives the reason.
    """
    sources = sources_of(tool)
    if sources is None:
        return _code_reference(tool), ()
    folder, drafts = sources.snapshot.folder, drafts_of(sources)
    digest = digest_of(folder.name, drafts, folder.revision)
    reference = FolderReference(
        folder.name,
        folder.path,
        folder.location,
        folder.revision,
        digest,
        sources.snapshot.locked,
    )
    return reference, drafts


def _code_reference(tool: ToolDefinition) -> CodeReference:
    """Return the name of a function, by which a module has the very same tool.

    Raises:
        UnavailableError: there isn't one.
    """
    function = tool.function
    module = str(getattr(function, "__module__", None))
    name = str(getattr(function, "__qualname__", None))
    if "<locals>" in name or "<lambda>" in name:
        raise _unreachable(tool, f"{name} stands within a function")
    if tool.instance is not None or getattr(function, "__self__", None) is not None:
        raise _unreachable(tool, f"{name} is bound to an object")
    properties = tool.resolve().parameters.get("properties", ())
    reference = CodeReference(tool.name, module, name, tuple(properties))
    found = tool_in(sys.modules.get(module), reference)
    if found is None or found.function is not function:
        raise _unreachable(tool, f"{name} of the module {module} is another object")
    if (found.preprocess, found.postprocess) != (tool.preprocess, tool.postprocess):
        raise _unreachable(tool, f"{name} has another definition in the module {module}")
    # a script has a known file, and an interactive session doesn't
    if module == "__main__" and not hasattr(sys.modules[module], "__file__"):
        raise _unreachable(tool, f"{name} was not defined in a file")
    return reference


def _unreachable(tool: ToolDefinition, reason: str) -> UnavailableError:
    words = f"it can't be found by name in another process: {reason}"
    return UnavailableError(tool.name, words)


def tool_in(module: object, reference: CodeReference) -> ToolDefinition | None:
    """Return the tool of that name, or None if the module doesn't have it."""
    found: Any = module
    for part in reference.attribute.split("."):
        found = getattr(found, part, None)
    if isinstance(found, ToolDefinition):
        return found
    if isinstance(getattr(found, ATTRIBUTE, None), ToolDefinition):
        return definition_of(found)
    if not callable(found):
        return None
    properties: dict[str, JSON] = {each: {} for each in reference.properties}
    schema: JSON = {"type": "object", "properties": properties}
    return ToolDefinition(reference.name, "", schema, found)
