"""Reading a request: its query and body as structs, within the limit, and whose memory it is about."""

import re
from datetime import datetime
from typing import Any, TypedDict, TypeVar
from urllib.parse import parse_qsl

import msgspec
from starlette.requests import ClientDisconnect, Request

from actormem import ActorMemError, NotFoundError, Owner, Runtime, Session, SessionKey, UsageError
from actormem.remote.failures import RefusedError
from actormem.remote.operations import Operation
from actormem.server.door import GRANT
from actormem.server.grants import Grant
from actormem.server.state import ServerState

__all__ = ["Call", "decoded", "moment", "read_body", "read_call"]

PARAMETERS_MAX = 64
NUMBERED = re.compile(r"\[\.\.\.\]|\[\d+\]|\.[a-z_]+|\$|key in ")
T = TypeVar("T", bound=msgspec.Struct)


class Whose(TypedDict):
    """Whose memory."""

    user: str
    tenant: str


class Call:
    """One request, read and checked: what the handlers are given."""

    def __init__(
        self, state: ServerState, grant: Grant, owner: Owner, query: Any, body: Any, request: Request
    ) -> None:
        self.state = state
        self.grant = grant
        self.owner = owner
        self.query = query
        self.body = body
        self.request = request

    @property
    def runtime(self) -> Runtime:
        """The runtime."""
        return self.state.runtime

    @property
    def whose(self) -> Whose:
        """User and tenant, as the runtime's methods take them."""
        return {"user": self.owner.user, "tenant": self.owner.tenant}

    async def session(self) -> Session:
        """The session that is asked for, made where there is none."""
        return await self.state.session(self.query.session, **self.whose)

    async def known_session(self) -> Session:
        """The session that is asked for, which looking at it does not make.

        Raises:
            NotFoundError: There is none.
        """
        id = self.query.session
        if not self.state.holds(SessionKey(self.owner, id)):
            rows = await self.runtime.sessions(**self.whose)
            if not any(row.session_id == id for row in rows):
                raise NotFoundError("this user has no session of that id", id=id)
        return await self.session()


async def read_call(state: ServerState, operation: Operation, request: Request) -> Call:
    """The request, read as the operation says.

    Raises:
        UsageError: It is not what the operation takes; nothing changed.
        RefusedError: It is for another's memory, or too large.
    """
    query = _query(operation, request)
    grant: Grant = request.scope[GRANT]
    owner = _owner(operation, grant, query)
    body = None
    if operation.body is not None:
        raw = await read_body(request, state.settings.body_bytes_max)
        body = decoded(raw, operation.body)
    return Call(state, grant, owner, query, body, request)


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


def decoded(raw: bytes, kind: type[T]) -> T:
    """The JSON as this struct.

    Raises:
        UsageError: It is not; says where, and none of its words.
    """
    try:
        return msgspec.json.decode(raw or b"{}", type=kind)
    except msgspec.ValidationError as error:
        if isinstance(error.__cause__, ActorMemError):
            raise error.__cause__ from None
        raise _refusal("the body", kind, error) from None
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        raise UsageError("the body is not JSON", hint="send one JSON object in UTF-8") from None


def moment(name: str, text: str | None) -> datetime | None:
    """The time that a text gives; None for none.

    Raises:
        UsageError: It is not ISO 8601.
    """
    if text is None:
        return None
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise UsageError(
            f"{name} must be ISO 8601 with its zone, such as 2026-01-31T09:30:00+08:00"
        ) from None


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
    try:
        return msgspec.convert(given, operation.query, strict=False)
    except msgspec.ValidationError as error:
        raise _refusal("the query", operation.query, error) from None


def _owner(operation: Operation, grant: Grant, query: Any) -> Owner:
    if operation.scope != "user" and not grant.for_all_users:
        raise RefusedError("this needs a key for all users of a tenant", status=403)
    try:
        user, tenant = grant.owner(query.user, query.tenant)
    except PermissionError as error:
        raise RefusedError(str(error), status=403) from None
    return Owner(tenant=tenant, user=user)


def _lists(kind: type[msgspec.Struct]) -> frozenset[str]:
    return frozenset(name for name, type_ in kind.__annotations__.items() if "list" in str(type_))


def _refusal(where: str, kind: type[msgspec.Struct], error: msgspec.ValidationError) -> UsageError:
    """What is wrong, in the words of msgspec where these hold none of the caller's."""
    text = str(error)
    known = ", ".join(kind.__struct_fields__) or "none"
    if text.startswith(("Expected ", "Object missing required field ")):
        reason, _, place = text.partition(" - at ")
        shown = "".join(NUMBERED.findall(place)) if place else ""
        return UsageError(
            f"{where} is not what is taken here: {reason}{f', at {shown}' if shown not in ('', '$') else ''}",
            hint=f"known are {known}",
        )
    if text.startswith("Object contains unknown field"):
        return UsageError(f"{where} has a parameter that is unknown here", hint=f"known are {known}")
    return UsageError(f"{where} holds a value that is none of those there are", hint="see /openapi.json")
