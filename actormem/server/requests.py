"""Reading a request: its query and body as structs, within the limit, and whose memory it is about."""

from typing import Any
from urllib.parse import parse_qsl

import msgspec
from starlette.requests import ClientDisconnect, Request

from actormem import UsageError
from actormem.remote.failures import RefusedError
from actormem.remote.operations import Operation
from actormem.server.calls import Call, decoded, owner_for, queried
from actormem.server.door import GRANT
from actormem.server.grants import Grant
from actormem.server.state import ServerState

__all__ = ["read_body", "read_call"]

PARAMETERS_MAX = 64


async def read_call(state: ServerState, operation: Operation, request: Request) -> Call:
    """The request, read as the operation says.

    Raises:
        UsageError: It is not what the operation takes; nothing changed.
        RefusedError: It is for another's memory, or too large.
    """
    query = _query(operation, request)
    grant: Grant = request.scope[GRANT]
    owner = owner_for(operation, grant, query)
    body = None
    if operation.body is not None:
        raw = await read_body(request, state.settings.body_bytes_max)
        body = decoded(raw, operation.body)

    async def gone() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass

    return Call(state, grant, owner, query, body, gone)


async def read_body(request: Request, bytes_max: int) -> bytes:
    """The body.

    Raises:
        RefusedError: It is larger than it may be.
    """
    told = request.headers.get("content-length", "")
    size = int(told) if told.isascii() and told.isdigit() and len(told) < 16 else 0
    content = bytearray()
    try:
        if size <= bytes_max:
            async for part in request.stream():
                size = len(content) + len(part)
                if size > bytes_max:
                    break
                content += part
    except ClientDisconnect:
        raise RefusedError("the body came only in part", status=400) from None
    if size > bytes_max:
        raise RefusedError(
            f"the body has more than {bytes_max} bytes, which is the limit",
            status=413,
            hint="send less at once",
        )
    return bytes(content)


def _query(operation: Operation, request: Request) -> Any:
    raw = request.scope["query_string"].decode("latin-1")
    try:
        pairs = parse_qsl(raw, keep_blank_values=True, max_num_fields=PARAMETERS_MAX, errors="strict")
    except (ValueError, UnicodeError):
        raise UsageError("the query is not UTF-8, or has too many parameters") from None
    given: dict[str, str | list[str]] = {}
    lists = _lists(operation.query)
    for name, value in pairs:
        if name in lists:
            given[name] = [*given.get(name, []), value]
        elif name in given:
            raise UsageError("a parameter of the query is there twice")
        else:
            given[name] = value
    return queried(operation, given, strict=False)


def _lists(kind: type[msgspec.Struct]) -> frozenset[str]:
    return frozenset(name for name, type_ in kind.__annotations__.items() if "list" in str(type_))
