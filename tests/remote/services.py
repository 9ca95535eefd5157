"""Six documents in miniature, with what the documents of well-known services contain.

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

SERVICES: dict[str, tuple[dict[str, Any], dict[str, str]]] = {
    "box": (BOX, {}),
    "openai": (OPENAI, {}),
    "stripe": (STRIPE, {}),
    "slack": (SLACK, {"/hooks": "the security scheme 'nowhere' isn't defined"}),
    "twilio": (TWILIO, {}),
    "petstore": (PETS, {"/pet/{petId}": "the style 'matrix' is not supported"}),
}  # fmt: skip
"""Each document, and by path what can't become a tool of it, with the reason."""
