"""Ten documents in miniature, with what the documents of well-known services contain.

Each is written for these tests, after the constructs (not the text) of the service's own document.
"""

from __future__ import annotations

from typing import Any

TEXT = {"type": "string"}


def ref(name: str, kind: str = "schemas") -> dict[str, Any]:
    return {"$ref": f"#/components/{kind}/{name}"}


def query(name: str, schema: Any = TEXT, **more: Any) -> dict[str, Any]:
    return {"name": name, "in": "query", "schema": schema, **more}


def body(schema: Any, media: str = "application/json", **more: Any) -> dict[str, Any]:
    return {"required": True, "content": {media: {"schema": schema, **more}}}


def document(title: str, paths: Any, version: str = "3.0.3", **components: Any) -> dict[str, Any]:
    return {
        "openapi": version,
        "info": {"title": title, "version": "1"},
        "servers": [{"url": f"https://{title.lower()}.example/api"}],
        "paths": paths,
        "components": components,
    }


OK = {"responses": {"200": {"description": "ok"}}}

BOX = document(
    "Box",
    {
        "/files/content": {"post": {"operationId": "post_files_content", "security": [{"auth": []}],
            "parameters": [{"name": "content-md5", "in": "header", "schema": TEXT}],
            "requestBody": body(
                {"type": "object", "required": ["attributes", "file"], "properties": {
                    "attributes": {"type": "object", "required": ["name", "parent"], "properties": {
                        "name": TEXT, "parent": {"type": "object", "properties": {"id": TEXT}}}},
                    "file": {"type": "string", "format": "binary"}}},
                "multipart/form-data"), **OK}},
        "/folders/{folder_id}": {"put": {"operationId": "put_folders_id",
            "parameters": [{"name": "folder_id", "in": "path", "required": True, "schema": TEXT},
                           {"name": "if-match", "in": "header", "schema": TEXT}],
            # 'type' is required and described nowhere
            "requestBody": body({"allOf": [ref("Folder--Base"), {"required": ["type", "name"]},
                {"properties": {"name": TEXT}, "required": ["name", "etag", "type"]}]}), **OK}},
        "/metadata_queries": {"post": {"operationId": "post_query", "requestBody": body(
            {"type": "object", "required": ["from", "ancestor_folder_id", "limit"],
             "properties": {"from": TEXT, "query_params": {
                 "type": "object", "additionalProperties": {"x-box-tag": 1}}}}), **OK}},
    },
    schemas={"Folder--Base": {"type": "object", "required": ["id", "etag"], "properties": {
        "id": {"allOf": [TEXT, {"readOnly": True}]},
        "etag": {"type": "string", "nullable": True}}}},
    securitySchemes={"auth": {"type": "oauth2", "flows": {}}},
)  # fmt: skip

SPOTIFY = document(
    "Spotify",
    {
        "/playlists/{id}/images": {"put": {"operationId": "upload-custom-playlist-cover",
            "parameters": [ref("PathId", "parameters")],
            "requestBody": {"content": {"image/jpeg": {"schema": {
                "type": "string", "format": "byte"}}}},
            "security": [{"oauth": ["ugc-image-upload"]}], **OK}},
        "/me/player/play": {"put": {"operationId": "start-playback", "requestBody": {"content": {
            "application/json": {"schema": {"type": "object", "properties": {
                "uris": {"type": "array", "items": TEXT}, "offset": {
                    "type": "object", "additionalProperties": True}}}}}},
            "parameters": [query("device_id", {"title": "Device", "type": "string"})], **OK}},
        "/search": {"get": {"operationId": "search", "parameters": [
            query("type", {"type": "array", "items": {"type": "string", "enum": ["album"]}},
                  required=True, explode=False), ref("Limit", "parameters")], **OK}},
    },
    version="3.0.3",
    parameters={
        "PathId": {"name": "id", "in": "path", "required": True, "schema": TEXT},
        "Limit": query("limit", {"type": "integer", "default": 20, "required": ["limit"]}),
    },
    securitySchemes={"oauth": {"type": "oauth2", "flows": {}}},
)  # fmt: skip

OPENAI = document(
    "OpenAI",
    {
        "/responses": {"post": {"operationId": "createResponse", "requestBody": body(
            {"allOf": [ref("Shared"), {"type": "object", "required": ["model"], "properties": {
                "input": {"oneOf": [TEXT, {"type": "array", "items": ref("Item")}]},
                "temperature": {"oneOf": [{"type": "integer"}, {"type": "number"}]},
                "filters": {"anyOf": [ref("Compare"), ref("Compound")]}}}]}), **OK}},
        "/audio/speech": {"post": {"operationId": "createTranscription", "requestBody": body(
            {"type": "object", "required": ["file", "model"], "properties": {
                "file": {"type": "string", "format": "binary"}, "model": TEXT,
                "timestamp_granularities[]": {"type": "array", "items": TEXT}}},
            "multipart/form-data"), **OK}},
        "/threads": {"post": {"operationId": "createThread", "parameters": [
            query("include[]", {"type": "array", "items": TEXT})], **OK}},
    },
    version="3.1.0",
    schemas={
        "Shared": {"type": "object", "properties": {"model": TEXT, "user": TEXT}},
        "Compare": {"type": "object", "required": ["type", "key"], "properties": {
            "type": {"type": "string", "default": "eq", "enum": ["eq", "ne"]}, "key": TEXT}},
        "Compound": {"$recursiveAnchor": True, "type": "object", "required": ["type", "filters"],
            "properties": {"type": {"type": "string", "enum": ["and", "or"]},
                "filters": {"type": "array", "items": {
                    "oneOf": [ref("Compare"), {"$recursiveRef": "#"}],
                    "discriminator": {"propertyName": "type"}}}}},
        "Item": {"oneOf": [ref("Message"), ref("Call")],
                 "discriminator": {"propertyName": "type"}},
        "Message": {"type": "object", "required": ["type", "content"], "properties": {
            "type": {"type": "string", "enum": ["message"]}, "content": TEXT}},
        "Call": {"type": "object", "required": ["type", "call_id"], "properties": {
            "type": {"type": "string", "const": "call"}, "call_id": TEXT}},
    },
)  # fmt: skip

STRIPE = document(
    "Stripe",
    {
        "/v1/customers": {
            "get": {"operationId": "GetCustomers", "parameters": [
                query("created", {"anyOf": [{"type": "object", "properties": {
                    "gt": {"type": "integer"}}}, {"type": "integer"}]},
                    style="deepObject", explode=True),
                query("expand", {"type": "array", "items": TEXT},
                      style="deepObject", explode=True)], **OK},
            "post": {"operationId": "PostCustomers", "requestBody": body(
                {"type": "object", "additionalProperties": False, "properties": {
                    "metadata": {"type": "object", "additionalProperties": TEXT},
                    "expand": {"type": "array", "items": TEXT},
                    "name": TEXT, "preferred_locales": {"type": "array", "items": TEXT}}},
                "application/x-www-form-urlencoded",
                encoding={"metadata": {"style": "deepObject", "explode": True},
                          "expand": {"style": "deepObject", "explode": True}}), **OK},
        },
    },
    securitySchemes={"basicAuth": {"type": "http", "scheme": "basic"},
                     "bearerAuth": {"type": "http", "scheme": "bearer", "bearerFormat": "x"}},
) | {"security": [{"basicAuth": []}, {"bearerAuth": []}]}  # fmt: skip

GITHUB = document(
    "GitHub",
    {
        "/repos/{owner}/{repo}/issues": {
            "parameters": [{"name": each, "in": "path", "required": True, "schema": TEXT}
                           for each in ("owner", "repo")],
            "post": {"operationId": "issues/create", "requestBody": body(
                {"type": "object", "required": ["title"], "properties": {
                    "title": {"oneOf": [TEXT, {"type": "integer"}]},
                    "milestone": {"nullable": True, "oneOf": [TEXT, {"type": "integer"}]},
                    "labels": {"type": "array", "items": {"oneOf": [TEXT, {"type": "object",
                        "properties": {"name": TEXT}}]}}}}), **OK},
        },
        "/markdown/raw": {"post": {"operationId": "markdown/render-raw", "requestBody": {
            "content": {"text/plain": {"schema": TEXT}, "text/x-markdown": {"schema": TEXT}}},
            "parameters": [{"name": "accept", "in": "header", "schema": TEXT}], **OK}},
        "/repos/{owner}/{repo}/releases/{id}/assets": {
            "servers": [{"url": "https://uploads.{domain}", "variables": {
                "domain": {"default": "github.example"}}}],
            "post": {"operationId": "repos/upload-release-asset", "parameters": [
                query("name", required=True)], "requestBody": {"content": {
                    "application/octet-stream": {"schema": TEXT | {"format": "binary"}}}}, **OK}},
    },
)  # fmt: skip

SLACK = document(
    "Slack",
    {
        "/chat.postMessage": {"post": {"operationId": "chat_postMessage",
            "parameters": [{"name": "token", "in": "header", "required": True, "schema": TEXT}],
            "requestBody": {"content": {
                "application/x-www-form-urlencoded": {"schema": {"type": "object", "properties": {
                    "channel": TEXT, "as_user": {"type": "boolean"}}, "required": ["channel"]}},
                "application/json; charset=utf-8": {"schema": {"type": "object", "properties": {
                    "channel": TEXT}}}}},
            "security": [{"slackAuth": ["chat:write"]}], **OK}},
        "/hooks": {"post": {"operationId": "hooks", "security": [{"nowhere": []}], **OK}},
        "/api.test": {"get": {"operationId": "api_test", "security": [{}, {"slackAuth": []}],
                              "parameters": [query("foo")], **OK}},
    },
    securitySchemes={"slackAuth": {"type": "oauth2", "flows": {}}},
)  # fmt: skip

TWILIO = document(
    "Twilio",
    {
        "/2010-04-01/Calls.json": {
            "get": {"operationId": "ListCall", "parameters": [
                query("StartTime"), query("StartTime<"), query("StartTime>")], **OK},
            "post": {"operationId": "CreateCall", "requestBody": body(
                {"type": "object", "required": ["To"], "properties": {
                    "To": TEXT, "StatusCallbackEvent": {"type": "array", "items": TEXT},
                    "Recording.Track": TEXT, "Start<": TEXT}},
                "Application/X-WWW-Form-Urlencoded; charset=UTF-8"), **OK},
        },
    },
    securitySchemes={"accountSid_authToken": {"type": "http", "scheme": "basic"}},
) | {"security": [{"accountSid_authToken": []}]}  # fmt: skip

PETS = document(
    "Petstore",
    {
        "/pet": {"post": {"operationId": "addPet", "requestBody": body(
            {"oneOf": [ref("Cat"), ref("Dog")], "discriminator": {"propertyName": "petType",
             "mapping": {"cat": "#/components/schemas/Cat", "dog": "Dog", "puppy": "Dog"}}}),
            **OK}},
        "/pet/{petId}": {"post": {"operationId": "updatePetWithForm", "parameters": [
            {"name": "petId", "in": "path", "required": True, "style": "matrix", "schema": TEXT}],
            **OK}},
        "/pet/findByTags": {"get": {"operationId": "findPetsByTags", "parameters": [
            query("tags", {"type": "array", "items": TEXT}, style="pipeDelimited"),
            query("filter", {"type": "object"}, style="deepObject")], **OK}},
    },
    schemas={
        "Pet": {"type": "object", "required": ["petType", "id"], "properties": {
            "petType": {"type": "string"}, "id": {"type": "integer", "readOnly": True}}},
        "Cat": {"allOf": [ref("Pet"), {"properties": {"lives": {"type": "integer"}}}]},
        "Dog": {"allOf": [ref("Pet"), {"properties": {"bark": TEXT}}]},
    },
)  # fmt: skip

KUBERNETES = document(
    "Kubernetes",
    {
        "/api/v1/namespaces/{namespace}/pods": {
            "parameters": [{"name": "namespace", "in": "path", "required": True, "schema": TEXT},
                           query("pretty")],
            "post": {"operationId": "createCoreV1NamespacedPod", "requestBody": body(
                ref("io.k8s.api.core.v1.Pod"), "*/*"), **OK},
            "patch": {"operationId": "patchCoreV1NamespacedPod", "requestBody": {"content": {
                "application/json-patch+json": {"schema": {"type": "object"}},
                "application/apply-patch+yaml": {"schema": {"type": "object"}}}}, **OK},
        },
        "/api/v1/watch": {"get": {"operationId": "watch", "deprecated": True, "parameters": [
            query("fieldSelector", TEXT | {"uniqueItems": True})], **OK}},
    },
    schemas={"io.k8s.api.core.v1.Pod": {
        "description": "A pod.", "type": "object", "properties": {
            "apiVersion": TEXT, "metadata": {"default": {}, "allOf": [ref("Meta")]},
            "port": {"format": "int-or-string", "oneOf": [{"type": "integer"}, TEXT]}},
        "x-kubernetes-group-version-kind": [{"group": "", "kind": "Pod"}]},
        "Meta": {"type": "object", "properties": {"creationTimestamp": TEXT | {"nullable": True}}}},
    securitySchemes={"BearerToken": {"type": "apiKey", "name": "authorization", "in": "header"}},
) | {"security": [{"BearerToken": []}]}  # fmt: skip

DIGITALOCEAN = document(
    "DigitalOcean",
    {
        "/v2/droplets": {
            "post": {"operationId": "droplets_create", "requestBody": body(
                {"anyOf": [
                    {"title": "One", "allOf": [{"type": "object", "properties": {"name": TEXT},
                                                "required": ["name"]}, ref("droplet")]},
                    {"title": "Many", "allOf": [{"type": "object", "properties": {
                        "names": {"type": "array", "items": TEXT}}, "required": ["names"]},
                        ref("droplet")]}]}), **OK},
            "delete": {"operationId": "droplets_destroy", "parameters": [
                query("tag_name", required=True), {"$ref": "parameters/elsewhere.yml"}], **OK},
        },
        "/v2/droplets?beta=true": {"get": {"operationId": "droplets_beta", "parameters": [
            query("beta", {"type": "boolean"}), query("page", {"type": "integer"})], **OK}},
        "/v2/images": {"post": {"operationId": "images_create", "requestBody": body(
            ref("image")), **OK}},
    },
    version="3.1.1",
    schemas={
        "droplet": {"type": "object", "required": ["size", "image"], "properties": {
            "size": TEXT, "image": {"oneOf": [TEXT, {"type": "integer"}]}}},
        "image": {"$id": "https://schemas.example/image", "type": "object", "properties": {
            "region": {"$ref": "#region"}, "parent": {"$ref": "https://schemas.example/image"},
            "kind": {"$dynamicRef": "#kind"}}, "$defs": {
                "region": {"$anchor": "region", "type": "string", "enum": ["ams3"]},
                "kind": {"$dynamicAnchor": "kind", "type": "string"}}},
    },
    securitySchemes={"bearer_auth": {"type": "http", "scheme": "bearer"}},
) | {"security": [{"bearer_auth": []}]}  # fmt: skip

SERVICES: dict[str, tuple[dict[str, Any], dict[str, str]]] = {
    "box": (BOX, {}),
    "spotify": (SPOTIFY, {}),
    "openai": (OPENAI, {}),
    "stripe": (STRIPE, {}),
    "github": (GITHUB, {}),
    "slack": (SLACK, {"/hooks": "the security scheme 'nowhere' isn't defined"}),
    "twilio": (TWILIO, {}),
    "petstore": (PETS, {"/pet/{petId}": "the style 'matrix' is not supported"}),
    "kubernetes": (KUBERNETES, {}),
    "digitalocean": (DIGITALOCEAN, {
        "/v2/droplets": "the reference 'parameters/elsewhere.yml' leads out of the schema",
        "/v2/images": "'images_create': the reference '#region' names an anchor"}),
}  # fmt: skip
"""Each document, and by path what can't become a tool of it, with the reason."""
