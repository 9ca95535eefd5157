"""The operations of an OpenAPI 3 document as tools."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple, cast
from urllib.parse import parse_qsl, urljoin, urlsplit

from sovl_tools.formats.foreign import Definition, Flaw, ForeignTool, Selection, UnfitDefinition
from sovl_tools.model.document import JSON, MAX_DEPTH, Path, depth, encodes, kind
from sovl_tools.model.errors import SovlToolsError
from sovl_tools.remote.operation import (
    FORM,
    MULTIPART,
    Argument,
    Credential,
    Operation,
    Where,
    is_json,
    plain_media,
)
from sovl_tools.remote.request_schema import request_schema
from sovl_tools.remote.security import Security
from sovl_tools.schema.requests import Requests, properties_of, together
from sovl_tools.schema.subschemas import free_name, lookup

PACKAGE = "httpx>=0.28,<1"
"""The requirement of each imported function."""

METHODS: Mapping[str, Mapping[str, bool]] = {
    "get": {"read_only": True},
    "head": {"read_only": True},
    "options": {"read_only": True},
    "put": {"idempotent": True},
    "delete": {"destructive": True, "idempotent": True},
    "post": {},
    "patch": {},
    "trace": {"read_only": True},
}
"""The supported methods, with the annotations that each gives a tool."""

_NO_METHODS = frozenset({"$ref", "summary", "description", "servers", "parameters"})
_DEEPEST = 4 * MAX_DEPTH
_MOST_STEPS = 20
_STYLES = {
    "path": ("simple",),
    "query": ("form", "spaceDelimited", "pipeDelimited", "deepObject"),
    "header": ("simple",),
    "cookie": ("form",),
}
_IGNORED = frozenset({"accept", "content-type", "authorization"})
"""Headers that aren't parameters in OpenAPI: media types and security schemes set them."""
_TEMPLATE = re.compile(r"\{([^{}]+)\}")


class DocumentError(SovlToolsError, ValueError):
    """A document that isn't OpenAPI 3, or doesn't say where its server is."""


class Api(NamedTuple):
    """The content of a document.

    Attributes:
        definitions: the operations as tools, or flaws.
        operations: the operation of each tool, by its place in the document.
        notes: messages for users.
    """

    definitions: list[Definition]
    operations: dict[Path, Operation]
    notes: list[str]


def read_api(
    document: JSON,
    *,
    selection: Selection = Selection(),  # noqa: B008 - immutable
    base_url: str | None = None,
    source: str = "",
    credentials: Mapping[str, str] = MappingProxyType({}),
) -> Api:
    """Return the operations of a document.

    Args:
        document: as JSON.
        selection: which are wanted.
        base_url: where the server is, unless it is where the document says.
        source: the address of the document, if it came from one.
        credentials: the environment variables for security schemes, by the schemes' names.

    Raises:
        DocumentError: it isn't OpenAPI 3, doesn't say where its server is, or lacks one of the
            security schemes.
    """
    _check(document)
    reader = _Reader(document, base_url, source, credentials)
    definitions: list[Definition] = []
    operations: dict[Path, Operation] = {}
    for place, found in reader.operations(selection):
        if isinstance(found, Flaw):
            definitions.append(found)
        else:
            tool, operations[place] = found
            definitions.append(tool)
    if reader.without_server and not operations:
        raise DocumentError(reader.without_server)
    return Api(definitions, operations, [*dict.fromkeys(reader.notes), *reader.security.notes()])


def _check(document: JSON) -> None:
    if not isinstance(document, dict):
        raise DocumentError(f"an OpenAPI document must be an object, not {kind(document)!r}")
    if "swagger" in document:
        raise DocumentError(
            f"this is Swagger {document['swagger']!r:.20}, not OpenAPI 3; convert it, for example"
            " with swagger2openapi"
        )
    version = document.get("openapi")
    if not isinstance(version, str) or not version.startswith("3."):
        raise DocumentError("this isn't an OpenAPI 3 document: there's no 'openapi': '3.…'")
    if depth(document) > _DEEPEST:
        raise DocumentError(f"the document is nested more than {_DEEPEST} levels deep")
    if not isinstance(document.get("paths", {}), dict):
        raise DocumentError(f"'paths' must be an object, not {kind(document['paths'])!r}")
    if not encodes(json.dumps(document, ensure_ascii=False)):
        raise DocumentError("the document has a character that isn't Unicode")


class _Reader:
    """Reads the operations of one document.

    Attributes:
        security: the security schemes, and the variables that operations need for them.
        notes: differences from the document.
        without_server: the reason why an operation lacks the address of a server; "" if none does.
    """

    def __init__(
        self,
        document: dict[str, JSON],
        base_url: str | None,
        source: str,
        credentials: Mapping[str, str],
    ) -> None:
        self._document = document
        self._requests = Requests(document)
        self._source = source
        self.security = Security(document, credentials)
        self._base_url = base_url
        self._own: list[Credential] = []
        if base_url is not None:
            self._base_url, self._own = self.security.of_address(base_url)
        self.notes: list[str] = []
        self.without_server = ""
        for name in credentials:
            if name not in self.security.schemes:
                known = ", ".join(map(repr, self.security.schemes)) or "none"
                raise DocumentError(f"there's no security scheme {name!r:.80}; there are: {known}")

    def operations(
        self, selection: Selection
    ) -> Iterator[tuple[Path, tuple[ForeignTool, Operation] | Flaw]]:
        """Yield the operations that are wanted, or why they can't be tools, with their places."""
        for path, found in self._document.get("paths", {}).items():
            place: Path = ("paths", path)
            try:
                item = self._object(found, place)
            except UnfitDefinition as error:
                yield place, error.flaw
                continue
            for method in [each for each in item if each not in _NO_METHODS and each[:2] != "x-"]:
                value = item[method]
                tags = value.get("tags") if isinstance(value, dict) else None
                own = value.get("operationId") if isinstance(value, dict) else None
                names = [f"{method.upper()} {path}", *(tags if isinstance(tags, list) else [])]
                if selection.wants([own, *names]):
                    try:
                        yield (*place, method), self._operation(path, method, item)
                    except UnfitDefinition as error:
                        yield (*place, method), error.flaw
                    except RecursionError:
                        flaw = Flaw((*place, method), "its schemas are nested too deep")
                        yield (*place, method), flaw
                    except (TypeError, AttributeError, LookupError, ValueError):
                        flaw = Flaw((*place, method), "it isn't as OpenAPI describes operations")
                        yield (*place, method), flaw

    def _operation(
        self, path: str, method: str, item: dict[str, JSON]
    ) -> tuple[ForeignTool, Operation]:
        place: Path = ("paths", path, method)
        if method not in METHODS:
            raise UnfitDefinition(place, f"{method!r:.80} isn't a supported method")
        own = self._object(item[method], place)
        arguments: dict[str, Argument] = {}
        properties: dict[str, JSON] = {}
        required: list[str] = []
        for argument, schema, is_required in self._arguments(path, own, item, place):
            name = "body" if argument.where == "body" else argument.name
            if name in properties:
                name = free_name(f"{name}_{argument.where}", properties, joint="_")
            arguments[name], properties[name] = argument, schema
            required += [name] if is_required else []
        url = _joined(self._server(own, item, place), path)
        credentials = [*self._own, *self.security.credentials(own, place, url)]
        schema = {
            "type": "object", "properties": properties, "required": required,
            "additionalProperties": False,
        }  # fmt: skip
        made = request_schema(schema, self._document, self._requests)
        self.notes += [f"{method.upper()} {path}: {each}" for each in made.notes]
        given = {made.names.get(name, name): each for name, each in arguments.items()}
        env = [each.variable for each in credentials if not each.is_optional]
        tool = self._tool(path, method, own, made.schema, env)
        return tool, Operation(method.upper(), url, given, credentials, names=made.inner)

    def _tool(
        self,
        path: str,
        method: str,
        own: dict[str, JSON],
        parameters: dict[str, JSON],
        env: list[str],
    ) -> ForeignTool:
        place: Path = ("paths", path, method)
        text, summary = ((own.get(key) or "").strip() for key in ("description", "summary"))
        requires = {"env": env, "packages": [PACKAGE]}
        return ForeignTool(
            str(own.get("operationId") or f"{method} {path}"),
            parameters,
            place,
            text or summary or f"{method.upper()} {path}",
            title=summary if text and summary else None,
            annotations=METHODS[method],
            tags=tuple(each for each in own.get("tags") or () if each.strip()),
            requires={key: each for key, each in requires.items() if each},
        )

    def _arguments(
        self, path: str, own: dict[str, JSON], item: dict[str, JSON], place: Path
    ) -> Iterator[tuple[Argument, JSON, bool]]:
        """Yield the arguments of an operation, each with its schema and whether it is required."""
        found: dict[tuple[str, str], tuple[Argument, JSON, bool]] = {}
        for where, holder in (((*place[:2], "parameters"), item), ((*place, "parameters"), own)):
            for index, each in enumerate(holder.get("parameters") or ()):
                read = self._parameter(self._object(each, (*where, index)), (*where, index))
                found[read[0].where, read[0].name] = read
        query = path.partition("#")[0].partition("?")[2]
        for name in dict.fromkeys(_TEMPLATE.findall(path)):
            # a document may forget to say what it is
            plain = Argument("path", name), {"type": "string"}, True
            argument, schema, _ = found.pop(("path", name), plain)
            yield argument, schema, True
        fixed = {name for name, _ in parse_qsl(query, keep_blank_values=True)}
        for (where_, name), each in found.items():
            is_fixed = where_ == "query" and name in fixed
            is_ignored = where_ == "header" and name.lower() in _IGNORED
            if where_ != "path" and not is_fixed and not is_ignored:
                yield each
        if own.get("requestBody") is not None:
            yield self._body(
                self._object(own["requestBody"], (*place, "requestBody")), (*place, "requestBody")
            )

    def _parameter(self, value: dict[str, JSON], place: Path) -> tuple[Argument, JSON, bool]:
        name, where = value.get("name"), value.get("in")
        if not isinstance(name, str) or not name:
            raise UnfitDefinition(place, "the parameter has no name")
        if not isinstance(where, str) or where not in _STYLES:
            raise UnfitDefinition(place, f"the parameter {name!r:.80} is in no part of a request")
        styles = _STYLES[where]
        style = value.get("style") or styles[0]
        if style not in styles:
            raise UnfitDefinition((*place, "style"), f"the style {style!r:.80} is not supported")
        schema = value.get("schema")
        content = value.get("content")
        if schema is None and isinstance(content, dict) and content:
            media, inner = next(iter(content.items()))
            schema = self._object(inner, (*place, "content", media)).get("schema")
            style = "json"
        explode = value.get("explode", style == "form") is True
        if where == "query":
            style = _query_style(style, explode=explode)
        if style in styles[:1]:
            style = ""
        argument = Argument(cast("Where", where), name, style, explode and where != "query")
        return argument, _described(schema, value), where == "path" or value.get("required") is True

    def _body(self, value: dict[str, JSON], place: Path) -> tuple[Argument, JSON, bool]:
        content = value.get("content")
        if not isinstance(content, dict) or not content:
            raise UnfitDefinition((*place, "content"), "the body is of no media type")
        media = min(content, key=_preference)
        inner = self._object(content[media], (*place, "content", media))
        schema = inner.get("schema")
        if _preference(media) == _TEXTUAL:
            schema = {"type": "string", "description": f"The body, as {media}."}
        found = _described(schema, value)
        parts = self._parts(found, inner, (*place, "content", media)) if _is_form(media) else {}
        return Argument("body", media, parts=parts), found, value.get("required") is True

    def _parts(self, schema: JSON, media: Mapping[str, JSON], place: Path) -> dict[str, Argument]:
        """Return the members of a form that aren't written as usual."""
        said: dict[str, JSON] = media.get("encoding") or {}
        is_multipart = plain_media(str(place[-1])) == MULTIPART
        every = [*together(schema, self._document)]
        properties = {name: each for part in every for name, each in properties_of(part).items()}
        found: dict[str, Argument] = {}
        for name in dict.fromkeys([*properties, *said]):
            own = said.get(name) or {}
            if not is_multipart:
                if "style" in own or "explode" in own:
                    style = own.get("style") or "form"
                    explode = own.get("explode", style == "form") is True
                    found[name] = Argument("query", name, _query_style(style, explode=explode))
                continue
            parts = [*together(properties.get(name), self._document)]
            parts += [
                each for part in parts for each in together(part.get("items"), self._document)
            ]
            type_ = _first_media(own.get("contentType"))
            is_text = not type_ or is_json(type_) or type_.startswith("text/")
            is_file = any(map(_is_file, parts)) or not is_text
            if is_file or type_:
                type_ = type_ or "application/octet-stream"
                found[name] = Argument("body", type_, "file" if is_file else "")
        return found

    def _server(self, own: dict[str, JSON], item: dict[str, JSON], place: Path) -> str:
        """Return the address before the path.

        Raises:
            UnfitDefinition: the document doesn't say where the server is.
        """
        if self._base_url is not None:
            return self._base_url
        holders = (own, item, self._document)
        servers: JSON = next(
            filter(None, (each.get("servers") for each in holders)), [{"url": "/"}]
        )
        said: str = servers[0]["url"]
        url = said
        for name, each in (servers[0].get("variables") or {}).items():
            if "default" in each:
                url = url.replace(f"{{{name}}}", str(each["default"]))
        try:
            whole = urljoin(self._source, url) if self._source else url
            example = urljoin("https://api.example.com", url)
        except ValueError:
            whole, example = "", "https://api.example.com"
        if is_address(whole) and "{" not in whole:
            return whole
        words = (
            f"the server {said!r:.200} is not a whole http or https address: give --base-url URL,"
        )
        words += f" such as {example:.200}"
        self.without_server = words
        raise UnfitDefinition((*place, "servers"), words)

    def _object(self, value: JSON, place: Path) -> dict[str, JSON]:
        """Return an object, or the one that it refers to.

        Raises:
            UnfitDefinition: there isn't one.
        """
        for _ in range(_MOST_STEPS):
            if not isinstance(value, dict):
                break
            reference = value.get("$ref")
            if not isinstance(reference, str):
                return value
            found = lookup(self._document, reference)
            if found.failure or found.target is None:
                words = f"the reference {reference!r:.200} {found.failure or 'leads nowhere'}"
                raise UnfitDefinition(place, words)
            value = found.target
        what = kind(value) if not isinstance(value, dict) else "a circle of references"
        raise UnfitDefinition(place, f"must be an object, not {what!r}")


_TEXTUAL = 9


def is_address(url: str) -> bool:
    """Return True for an http or https address."""
    try:
        parts = urlsplit(url)
        return parts.scheme in {"http", "https"} and bool(parts.hostname)
    except ValueError:
        return False


def _joined(base: str, path: str) -> str:
    """Return the address of a path below a server; both can have a query."""
    start, _, query = base.partition("#")[0].partition("?")
    end, _, more = path.partition("#")[0].partition("?")
    queries = "&".join(each.strip("&") for each in (query, more) if each.strip("&"))
    return f"{start.rstrip('/')}{end}{'?' if queries else ''}{queries}"


def _is_form(media: str) -> bool:
    return plain_media(media) in {FORM, MULTIPART}


def _preference(media: str) -> int:
    """Return the rank of a media type; the lowest is the easiest to write from JSON."""
    plain = plain_media(media)
    if is_json(plain):
        return 0 if plain == "application/json" else 1
    known = (FORM, MULTIPART, "application/*", "*/*")
    return 2 + known.index(plain) if plain in known else _TEXTUAL


def _query_style(style: str, *, explode: bool) -> str:
    """Return the style of a query's argument; "" writes each item or member separately."""
    if style == "deepObject":
        return style
    if explode:
        return ""
    return "commaDelimited" if style == "form" else style


def _first_media(types: JSON) -> str:
    """Return the first media type of a list that isn't a range, or else ""."""
    every = types.split(",") if isinstance(types, str) else []
    return next((each.strip() for each in every if "/" in each and "*" not in each), "")


def _is_file(schema: Mapping[str, JSON]) -> bool:
    media = schema.get("contentMediaType")
    is_other = isinstance(media, str) and not is_json(media) and not media.startswith("text/")
    return schema.get("format") == "binary" or is_other


def _described(schema: JSON, value: Mapping[str, JSON]) -> JSON:
    """Return a schema with the description of the object around it."""
    schema = {} if schema is None or isinstance(schema, bool) else {**schema}
    text = value.get("description")
    return {**schema, "description": text} if isinstance(text, str) and text.strip() else schema
