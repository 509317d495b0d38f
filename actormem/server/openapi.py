"""The OpenAPI document, made of the structs that requests are read into and answers are written from."""

from collections.abc import Iterable
from functools import cache
from importlib.metadata import version
from typing import Any

import msgspec

from actormem.remote.failures import FailureAnswer
from actormem.remote.operations import OPERATIONS, Operation
from actormem.server.live import EVENTS

__all__ = ["openapi"]

REFERENCE = "#/components/schemas/{name}"
ABOUT = """\
Conversation memory for LLM agents. Ids stand in the query, never in a path. A key for one user says whose memory it
is; with a key for a tenant, or with none on this machine, `user` is needed. Errors are `{"error": {...}}`."""
FAILED = {"400": "The call is wrong; nothing changed.", "401": "A key is needed.", "403": "It is another's memory.",
          "404": "There is none of that id; nothing changed.", "413": "The body is too large.",
          "429": "The key is used too often.", "503": "Too busy, or stopping; try again later."}  # fmt: skip


@cache
def openapi() -> bytes:
    """The document as JSON."""
    operations = (*OPERATIONS, EVENTS)
    kinds = [one.answer for one in operations]
    kinds += [one.body for one in operations if one.body is not None]
    kinds += [FailureAnswer, *(one.query for one in operations)]
    schemas, components = msgspec.json.schema_components(kinds, ref_template=REFERENCE)
    found = dict(zip(map(str, kinds), schemas, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for one in operations:
        described = _operation(one, found, components)
        paths.setdefault(one.path, {})[one.method.lower()] = described
    shown = {name: _plain(schema) for name, schema in components.items() if name not in _names(operations)}
    document: dict[str, Any] = {
        "openapi": "3.1.0",
        "info": {"title": "actormem", "version": version("actormem"), "description": ABOUT},
        "paths": paths,
        "components": {
            "schemas": shown,
            "securitySchemes": {
                "bearer": {"type": "http", "scheme": "bearer"},
                "key": {"type": "apiKey", "in": "header", "name": "X-Actormem-Key"},
            },
        },
        "security": [{}, {"bearer": []}, {"key": []}],
    }
    return msgspec.json.encode(document)


def _operation(one: Operation, found: dict[str, Any], components: dict[str, Any]) -> dict[str, Any]:
    kind = "text/event-stream" if one is EVENTS else "application/json"
    answer: dict[str, Any] = {"description": "Done.", "content": {kind: {"schema": found[str(one.answer)]}}}
    failed = {"application/json": {"schema": found[str(FailureAnswer)]}}
    described: dict[str, Any] = {
        "operationId": one.name,
        "summary": one.about,
        "parameters": _parameters(components[one.query.__name__]),
        "responses": {
            "200": answer,
            **{status: {"description": words, "content": failed} for status, words in FAILED.items()},
            "default": {"description": "Another failure.", "content": failed},
        },
    }
    if one.body is not None:
        described["requestBody"] = {
            "required": True,
            "content": {"application/json": {"schema": found[str(one.body)]}},
        }
    return described


def _parameters(schema: dict[str, Any]) -> list[dict[str, Any]]:
    required = schema.get("required", ())
    return [
        {"name": name, "in": "query", "required": name in required, "schema": _parameter(shape)}
        for name, shape in schema["properties"].items()
    ]


def _parameter(shape: dict[str, Any]) -> dict[str, Any]:
    """A parameter is there or not, never null."""
    choices = [one for one in shape.get("anyOf", ()) if one.get("type") != "null"]
    return (
        choices[0] if len(choices) == 1 else {key: value for key, value in shape.items() if key != "default"}
    )


def _names(operations: Iterable[Operation]) -> set[str]:
    return {one.query.__name__ for one in operations}


def _plain(schema: dict[str, Any]) -> dict[str, Any]:
    """Without the long docstring of a class, which speaks to those who read Python."""
    first = schema.get("description", "").split("\n\n")[0]
    return {**schema, **({"description": first} if first else {})}
