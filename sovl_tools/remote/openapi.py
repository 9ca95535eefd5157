"""The operations of an OpenAPI 3 document as tools."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple
from unicodedata import normalize
from urllib.parse import urljoin, urlsplit

from sovl_tools.formats.foreign import Definition, Flaw, ForeignTool, Selection, UnfitDefinition
from sovl_tools.model.document import JSON, MAX_DEPTH, Path, depth, kind
from sovl_tools.model.errors import SovlToolsError
from sovl_tools.remote.operation import Argument, Credential, Operation, Where
from sovl_tools.schema.subschemas import lookup
from sovl_tools.schema.upgrade import upgrade

PACKAGE = "httpx>=0.28,<1"
"""What the function of an imported operation needs."""

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
"""The methods that an operation may have, and what each says of a tool."""

_DEEPEST = 4 * MAX_DEPTH
_MOST_STEPS = 20
_STYLES = {
    "path": ("simple",),
    "query": ("form", "spaceDelimited", "pipeDelimited", "deepObject"),
    "header": ("simple",),
    "cookie": ("form",),
}
_TEMPLATE = re.compile(r"\{([^{}]+)\}")


class DocumentError(SovlToolsError, ValueError):
    """A document that is none of OpenAPI 3, or says nothing of where its server is."""


class Api(NamedTuple):
    """What a document offers.

    Attributes:
        definitions: the operations as tools, and what is wrong with those that can't be any.
        operations: what each tool calls, by its place in the document.
        notes: what users have to know.
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
) -> Api:
    """Return the operations of a document.

    Args:
        document: as JSON.
        selection: which are wanted.
        base_url: where the server is, unless it is where the document says.
        source: the address of the document, if it came from one.

    Raises:
        DocumentError: it is no such document, or says nothing of where its server is.
    """
    _check(document)
    reader = _Reader(document, base_url, source)
    definitions: list[Definition] = []
    operations: dict[Path, Operation] = {}
    for place, found in reader.operations(selection):
        if isinstance(found, Flaw):
            definitions.append(found)
        else:
            tool, operations[place] = found
            definitions.append(tool)
    notes = [
        f"set {variable}: {words}" for variable, words in dict.fromkeys(reader.variables.items())
    ]
    return Api(definitions, operations, notes)


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
        raise DocumentError("this is no OpenAPI 3 document: there is no 'openapi': '3.…'")
    if depth(document) > _DEEPEST:
        raise DocumentError(f"the document is nested more than {_DEEPEST} levels deep")
    if not isinstance(document.get("paths", {}), dict):
        raise DocumentError(f"'paths' must be an object, not {kind(document['paths'])!r}")


class _Reader:
    """Reads the operations of one document.

    Attributes:
        variables: the environment variables that operations need, and what goes into each.
    """

    def __init__(self, document: dict[str, JSON], base_url: str | None, source: str) -> None:
        self._document = document
        self._base_url = base_url
        self._source = source
        self.variables: dict[str, str] = {}

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
            for method in [each for each in item if each in METHODS]:
                value = item[method]
                tags = value.get("tags") if isinstance(value, dict) else None
                own = value.get("operationId") if isinstance(value, dict) else None
                names = [f"{method.upper()} {path}", *(tags if isinstance(tags, list) else [])]
                if selection.wants([own, *names]):
                    try:
                        yield (*place, method), self._operation(path, method, item)
                    except UnfitDefinition as error:
                        yield (*place, method), error.flaw

    def _operation(
        self, path: str, method: str, item: dict[str, JSON]
    ) -> tuple[ForeignTool, Operation]:
        place: Path = ("paths", path, method)
        own = self._object(item[method], place)
        arguments: dict[str, Argument] = {}
        properties: dict[str, JSON] = {}
        required: list[str] = []
        for argument, schema, is_required in self._arguments(path, own, item, place):
            name = _free(
                argument.name if argument.where != "body" else "body", argument, properties
            )
            arguments[name], properties[name] = argument, schema
            required += [name] if is_required else []
        credentials = self._credentials(own, place)
        schema = {
            "type": "object", "properties": properties, "required": required,
            "additionalProperties": False,
        }  # fmt: skip
        requires = {"env": [each.variable for each in credentials], "packages": [PACKAGE]}
        text, summary = (_text(own, key, place).strip() for key in ("description", "summary"))
        tags = own.get("tags", [])
        tool = ForeignTool(
            _text(own, "operationId", place) or f"{method} {path}",
            upgrade(schema, self._document, is_request=True),
            place,
            text or summary or f"{method.upper()} {path}",
            title=summary if text and summary else None,
            annotations=METHODS[method],
            tags=tuple(each for each in tags if isinstance(each, str) and each.strip())
            if isinstance(tags, list)
            else (),
            requires={key: each for key, each in requires.items() if each},
        )
        url = self._server(own, item, place) + path
        return tool, Operation(method.upper(), url, arguments, credentials)

    def _arguments(
        self, path: str, own: dict[str, JSON], item: dict[str, JSON], place: Path
    ) -> Iterator[tuple[Argument, JSON, bool]]:
        """Yield the arguments of an operation, each with its schema and whether it is required."""
        found: dict[tuple[str, str], tuple[Argument, JSON, bool]] = {}
        for where, holder in (((*place[:2], "parameters"), item), ((*place, "parameters"), own)):
            listed = holder.get("parameters", [])
            if not isinstance(listed, list):
                raise UnfitDefinition(where, f"must be a list, not {kind(listed)!r}")
            for index, each in enumerate(listed):
                read = self._parameter(self._object(each, (*where, index)), (*where, index))
                found[read[0].where, read[0].name] = read
        in_path = dict.fromkeys(_TEMPLATE.findall(path))
        for name in in_path:  # a document may forget to say what it is
            yield found.pop(("path", name), (Argument("path", name), {"type": "string"}, True))
        yield from (each for (where, _), each in found.items() if where != "path")
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
            raise UnfitDefinition((*place, "style"), f"the style {style!r:.80} is not known here")
        schema = value.get("schema")
        content = value.get("content")
        if schema is None and isinstance(content, dict) and content:
            media, inner = next(iter(content.items()))
            schema = self._object(inner, (*place, "content", media)).get("schema")
            style = "json"
        explode = value.get("explode", style == "form") is True
        if style == "form" and where == "query" and not explode:
            style = "commaDelimited"
        if style in styles[:1]:
            style = ""
        argument = Argument(_WHERE[where], name, style, explode and where != "query")
        described = _described(schema, value, (*place, "schema"))
        return argument, described, where == "path" or value.get("required") is True

    def _body(self, value: dict[str, JSON], place: Path) -> tuple[Argument, JSON, bool]:
        content = value.get("content")
        if not isinstance(content, dict) or not content:
            raise UnfitDefinition((*place, "content"), "the body is of no media type")
        media = min(content, key=_preference)
        inner = self._object(content[media], (*place, "content", media))
        schema = inner.get("schema")
        if _preference(media) == _TEXTUAL:
            schema = {"type": "string", "description": f"The body, as {media}."}
        found = _described(schema, value, (*place, "content", media, "schema"))
        return Argument("body", media), found, value.get("required") is True

    def _credentials(self, own: dict[str, JSON], place: Path) -> list[Credential]:
        """Return those of the first alternative that can be had; none if a call needs none."""
        stated = own.get("security", self._document.get("security", []))
        if not isinstance(stated, list):
            raise UnfitDefinition((*place, "security"), f"must be a list, not {kind(stated)!r}")
        reason = ""
        if not stated or {} in stated:
            return []
        for each in stated:
            if not isinstance(each, dict):
                raise UnfitDefinition((*place, "security"), "must be a list of objects")
            try:
                return [self._credential(name) for name in each]
            except UnfitDefinition as error:
                reason = error.flaw.message
        raise UnfitDefinition((*place, "security"), reason)

    def _credential(self, name: str) -> Credential:
        above = self._document.get("components")
        schemes = above.get("securitySchemes") if isinstance(above, dict) else None
        found = schemes.get(name) if isinstance(schemes, dict) else None
        where: Path = ("components", "securitySchemes", name)
        scheme = self._object(found, where)
        variable = self._variable(name)
        type_, detail = scheme.get("type"), scheme.get("scheme")
        if type_ in ("oauth2", "openIdConnect") or (
            type_ == "http" and str(detail).lower() == "bearer"
        ):
            self.variables[variable] = "the bearer token"
            return Credential("bearer", "", variable)
        if type_ == "http" and str(detail).lower() == "basic":
            self.variables[variable] = "user:password"
            return Credential("basic", "", variable)
        part, key = scheme.get("in"), scheme.get("name")
        if type_ == "apiKey" and part in ("header", "query", "cookie") and isinstance(key, str):
            self.variables[variable] = f"the API key ({part} {key!r})"
            return Credential(part, key, variable)
        words = f"the security scheme {name!r:.80} is of a kind that can't be used"
        raise UnfitDefinition(where, words)

    def _variable(self, scheme: str) -> str:
        """Return the name of the environment variable for a security scheme."""
        info = self._document.get("info")
        title = info.get("title") if isinstance(info, dict) else None
        words = f"{title if isinstance(title, str) else ''} {scheme}"
        plain = normalize("NFKD", words).encode("ascii", "ignore").decode()
        name = re.sub(r"\W+", "_", plain).strip("_").upper()[:_LONGEST]
        return name if name and not name[0].isdigit() else f"API_{name}".rstrip("_")

    def _server(self, own: dict[str, JSON], item: dict[str, JSON], place: Path) -> str:
        """Return the address before the path.

        Raises:
            DocumentError: nobody says where the server is.
        """
        if self._base_url is not None:
            return self._base_url.rstrip("/")
        holders = (own, item, self._document)
        servers = next((each["servers"] for each in holders if each.get("servers")), [{"url": "/"}])
        first = servers[0] if isinstance(servers, list) else None
        url = first.get("url") if isinstance(first, dict) else None
        if first is None or not isinstance(url, str):
            raise UnfitDefinition((*place, "servers"), "the first server has no address")
        variables = first.get("variables")
        for name, each in variables.items() if isinstance(variables, dict) else ():
            default = each.get("default") if isinstance(each, dict) else None
            url = url.replace(f"{{{name}}}", str(default))
        url = urljoin(self._source, url) if self._source else url
        if not is_address(url):
            raise DocumentError(f"the server {url!r:.200} is no address: give --base-url URL")
        return url.rstrip("/")

    def _object(self, value: JSON, place: Path) -> dict[str, JSON]:
        """Return an object, or the one that it refers to.

        Raises:
            UnfitDefinition: there is none.
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


_WHERE: Mapping[str, Where] = {
    "path": "path", "query": "query", "header": "header", "cookie": "cookie",
}  # fmt: skip
_LONGEST = 60
_TEXTUAL = 3


def is_address(url: str) -> bool:
    """Tell whether something is an address of the web."""
    try:
        parts = urlsplit(url)
        return parts.scheme in {"http", "https"} and bool(parts.hostname)
    except ValueError:
        return False


def _preference(media: str) -> int:
    """Return how well a media type can be made of JSON: the lowest is best."""
    plain = media.partition(";")[0].strip().lower()
    if plain == "application/json" or plain.endswith("+json"):
        return 0
    forms = ("application/x-www-form-urlencoded", "multipart/form-data")
    return 1 + forms.index(plain) if plain in forms else _TEXTUAL


def _described(schema: JSON, value: Mapping[str, JSON], place: Path) -> JSON:
    """Return a schema with the description that is beside it."""
    if schema is None or isinstance(schema, bool):
        schema = {}
    if not isinstance(schema, dict):
        raise UnfitDefinition(place, f"a schema must be an object, not {kind(schema)!r}")
    text = value.get("description")
    return {**schema, "description": text} if isinstance(text, str) and text.strip() else schema


def _text(value: Mapping[str, JSON], key: str, place: Path) -> str:
    found = value.get(key)
    if found is None or isinstance(found, str):
        return found or ""
    raise UnfitDefinition((*place, key), f"must be a text, not {kind(found)!r}")


def _free(name: str, argument: Argument, taken: Mapping[str, Any]) -> str:
    """Return a name for an argument that no other has."""
    if name in taken:
        name = f"{name}_{argument.where}"
    while name in taken:
        name += "_"
    return name
