"""How a chat server is asked for JSON: by a schema, for any object, or by the words of the request alone.

Law: what a server refuses is asked for less strictly, never given up; who asks checks the reply in any case.
"""

from collections.abc import Mapping
from typing import Any

from actormem.core.values import JsonValue

__all__ = ["SHAPES", "refuses_shape", "shape_arguments"]

SHAPES = 3  # json_schema, json_object, plain
SCHEMA_NAME = "reply"
# Servers that do not know `response_format`, or not this one, answer any of these.
REFUSALS = (400, 404, 415, 422, 501)


def shape_arguments(schema: Mapping[str, JsonValue] | None, shape: int) -> dict[str, Any]:
    """The arguments of a request that ask for JSON.

    Args:
        schema: Of the reply; None asks for words.
        shape: 0 for the schema itself, 1 for any JSON object, 2 for nothing but what the prompt says.
    """
    if schema is None or shape >= SHAPES - 1:
        return {}
    if shape:
        return {"response_format": {"type": "json_object"}}
    described = {"name": SCHEMA_NAME, "strict": True, "schema": schema}
    return {"response_format": {"type": "json_schema", "json_schema": described}}


def refuses_shape(error: Exception) -> bool:
    """Whether the server may have refused for the shape that was asked for."""
    return getattr(error, "status_code", 0) in REFUSALS
