"""OpenAPI documents for tests."""

from __future__ import annotations

from typing import Any

PET = {
    "type": "object",
    "required": ["id", "name"],
    "properties": {
        "id": {"type": "integer", "readOnly": True},
        "name": {"type": "string", "description": "Its name.", "example": "Rex"},
        "tag": {"type": "string", "nullable": True},
        "parent": {"$ref": "#/components/schemas/Pet"},
        "age": {"type": "number", "minimum": 0, "exclusiveMinimum": True},
    },
}
PETSTORE: dict[str, Any] = {
    "openapi": "3.0.3",
    "info": {"title": "Petstore", "version": "1.0.0"},
    "servers": [{"url": "http://localhost/{version}", "variables": {"version": {"default": "v1"}}}],
    "security": [{"key": []}],
    "paths": {
        "/pets": {
            "get": {
                "operationId": "list-pets",
                "summary": "List pets.",
                "description": "List all pets, page by page.",
                "tags": ["pets"],
                "parameters": [
                    {"$ref": "#/components/parameters/Limit"},
                    {"name": "tags", "in": "query", "schema": {"type": "array", "items": {}}},
                    {"name": "ids", "in": "query", "explode": False,
                     "schema": {"type": "array", "items": {"type": "integer"}}},
                    {"name": "filter", "in": "query", "style": "deepObject",
                     "schema": {"type": "object"}},
                    {"name": "where", "in": "query",
                     "content": {"application/json": {"schema": {"type": "object"}}}},
                    {"name": "X-Trace", "in": "header", "schema": {"type": "string"}},
                    {"name": "session", "in": "cookie", "schema": {"type": "string"}},
                ],
                "responses": {"200": {"description": "ok"}},
            },
            "post": {
                "operationId": "createPet",
                "tags": ["pets", "admin"],
                "requestBody": {"$ref": "#/components/requestBodies/Pet"},
                "security": [{"login": []}],
                "responses": {"201": {"description": "made"}},
            },
        },
        "/pets/{id}": {
            "parameters": [
                {"name": "id", "in": "path", "required": True, "schema": {"type": "string"},
                 "description": "Which pet."},
            ],
            "get": {"security": [], "parameters": [
                {"name": "id", "in": "query", "schema": {"type": "integer"}}], "responses": {}},
            "put": {
                "operationId": "replacePet",
                "security": [{"token": []}, {}],
                "requestBody": {"content": {
                    "application/x-www-form-urlencoded": {"schema": {"type": "object"}}}},
                "responses": {},
            },
            "delete": {"operationId": "deletePet", "security": [{"token": []}], "responses": {}},
        },
        "/notes/{name}.txt": {
            "post": {
                "operationId": "write_note",
                "security": [],
                "requestBody": {"required": True, "content": {"text/plain": {}}},
                "responses": {},
            }
        },
    },
    "components": {
        "parameters": {
            "Limit": {"name": "limit", "in": "query", "description": "How many.",
                      "schema": {"type": "integer", "maximum": 100, "default": 20}},
        },
        "requestBodies": {
            "Pet": {"required": True, "description": "The pet.", "content": {
                "application/xml": {}, "application/json": {
                    "schema": {"$ref": "#/components/schemas/Pet"}}}},
        },
        "schemas": {"Pet": PET},
        "securitySchemes": {
            "key": {"type": "apiKey", "in": "header", "name": "X-Key"},
            "token": {"type": "http", "scheme": "Bearer"},
            "login": {"type": "http", "scheme": "basic"},
        },
    },
}  # fmt: skip
