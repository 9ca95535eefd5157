"""The security schemes of an OpenAPI document, and environment variables for their credentials."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Literal, cast
from unicodedata import normalize
from urllib.parse import unquote_plus, urlsplit

from sovl_tools.formats.foreign import UnfitDefinition
from sovl_tools.model.document import JSON, Path
from sovl_tools.model.suggestion import as_hint, nearest
from sovl_tools.remote.operation import Credential
from sovl_tools.remote.secrets import is_secret
from sovl_tools.schema.subschemas import free_name

PREFIX = "SOVL_"
"""Derived names begin with this: a document must not choose a variable that others use."""
_LONGEST = 60
_SCHEMES: Path = ("components", "securitySchemes")


class Security:
    """The security schemes of one document.

    Attributes:
        given: the environment variables that the user names, by scheme.
    """

    def __init__(self, document: Mapping[str, JSON], given: Mapping[str, str]) -> None:
        self.given = given
        self._default = document.get("security", [])
        above = document.get("components")
        schemes = above.get("securitySchemes") if isinstance(above, dict) else None
        self.schemes: dict[str, JSON] = schemes if isinstance(schemes, dict) else {}
        info = document.get("info")
        title = info.get("title") if isinstance(info, dict) else None
        self._title = title if isinstance(title, str) else ""
        self._names: dict[str, str] = {}
        self._uses: dict[str, tuple[str, bool, set[str]]] = {}
        self._left: list[str] = []

    def credentials(self, operation: Mapping[str, JSON], place: Path, url: str) -> list[Credential]:
        """Return the credentials of the first supported alternative.

        They are optional if calls without credentials are possible.

        Raises:
            UnfitDefinition: no alternative can be used.
        """
        stated = operation.get("security", self._default)
        reason = ""
        for each in [each for each in stated if each]:
            try:
                found = [self._credential(name) for name in each]
            except UnfitDefinition as error:
                reason = reason or error.flaw.message
                continue
            is_optional = {} in stated
            for credential, words in found:
                self._note(credential.variable, words, url, is_optional=is_optional)
            return [each._replace(is_optional=is_optional) for each, _ in found]
        if reason and {} not in stated:
            raise UnfitDefinition((*place, "security"), reason)
        return []

    def of_address(self, url: str) -> tuple[str, list[Credential]]:
        """Return an address without the parts that look like secrets, and these as credentials."""
        parts = urlsplit(url)
        user, _, host = parts.netloc.rpartition("@")
        found = [(Credential("basic", "", self._variable("user")), "user:password")] if user else []
        pairs = []
        for pair in parts.query.split("&"):
            key, _, value = pair.partition("=")
            if is_secret(key, value):
                name = unquote_plus(key)
                credential = Credential("query", name, self._variable(name))
                found.append((credential, f"{name!r} of the base URL"))
            else:
                pairs.append(pair)
        for credential, words in found:
            self._note(credential.variable, words, url, is_optional=False)
        plain = parts._replace(netloc=host, query="&".join(pairs)).geturl()
        return plain, [each for each, _ in found]

    def notes(self) -> list[str]:
        """Return messages that name the variables to set, and the hosts that get their values."""
        found = [*self._left]
        for variable, (words, is_optional, hosts) in self._uses.items():
            optional = " (optional)" if is_optional else ""
            found.append(f"set {variable}{optional}: {words}, sent to {', '.join(sorted(hosts))}")
        return found

    def _note(self, variable: str, words: str, url: str, *, is_optional: bool) -> None:
        known = self._uses.get(variable, (words, True, set()))
        host = urlsplit(url).netloc.rpartition("@")[2]
        self._uses[variable] = known[0], known[1] and is_optional, known[2] | {host}

    def _credential(self, name: str) -> tuple[Credential, str]:
        scheme = self.schemes.get(name)
        if scheme is None:
            words = f"the security scheme {name!r:.80} isn't defined under 'securitySchemes'"
            raise UnfitDefinition(_SCHEMES, words + as_hint(nearest(name, self.schemes)))
        type_, detail = scheme.get("type"), str(scheme.get("scheme")).lower()
        if type_ in ("oauth2", "openIdConnect") or (type_ == "http" and detail == "bearer"):
            return Credential("bearer", "", self._variable(name)), "the bearer token"
        if type_ == "http" and detail == "basic":
            return Credential("basic", "", self._variable(name)), "user:password"
        part, key = scheme.get("in"), scheme.get("name")
        if type_ == "apiKey" and part in ("header", "query", "cookie") and isinstance(key, str):
            where = cast('Literal["header", "query", "cookie"]', part)
            return Credential(where, key, self._variable(name)), f"the API key ({part} {key!r})"
        words = f"the security scheme {name!r:.80} isn't supported"
        raise UnfitDefinition((*_SCHEMES, name), words)

    def _variable(self, scheme: str) -> str:
        """Return the environment variable of a scheme: the user's, or an unused name."""
        if scheme in self.given:
            return self.given[scheme]
        if scheme not in self._names:
            words = normalize("NFKD", f"{self._title} {scheme}").encode("ascii", "ignore").decode()
            name = PREFIX + re.sub(r"\W+", "_", words).strip("_").upper()[:_LONGEST]
            if name in os.environ:
                words = f"{name} is set already, maybe for something else, and isn't used"
                self._left.append(f"{words}: --credential '{scheme}={name}' uses it")
            taken = {*os.environ, *self._names.values(), *self.given.values()}
            self._names[scheme] = free_name(name, taken, joint="_")
        return self._names[scheme]
