"""A call as the handlers are given it, whatever carried it: whose memory it is about, its query and body as structs."""

import re
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime
from typing import Any, TypedDict, TypeVar

import msgspec

from actormem import ActorMemError, NotFoundError, Owner, Runtime, Session, SessionKey, UsageError
from actormem.remote.failures import RefusedError
from actormem.remote.operations import Operation
from actormem.server.grants import Grant
from actormem.server.state import ServerState

__all__ = ["Call", "decoded", "moment", "owner_for", "queried"]

NUMBERED = re.compile(r"\[\.\.\.\]|\[\d+\]|\.[a-z_]+|\$|key in ")
T = TypeVar("T", bound=msgspec.Struct)


class Whose(TypedDict):
    """Whose memory."""

    user: str
    tenant: str


class Call:
    """One call, read and checked: what the handlers are given.

    Attributes:
        gone: Returns when the caller has left without waiting for the answer.
    """

    def __init__(
        self,
        state: ServerState,
        grant: Grant,
        owner: Owner,
        query: Any,
        body: Any,
        gone: Callable[[], Awaitable[None]],
    ) -> None:
        self.state = state
        self.grant = grant
        self.owner = owner
        self.query = query
        self.body = body
        self.gone = gone

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


def queried(operation: Operation, given: Mapping[str, object], *, strict: bool) -> Any:
    """The query as the operation's struct.

    Args:
        strict: Whether values have their types already; False where all are texts.

    Raises:
        UsageError: It is not what the operation takes.
    """
    try:
        return msgspec.convert(given, operation.query, strict=strict)
    except msgspec.ValidationError as error:
        raise _refusal("the query", operation.query, error) from None


def owner_for(operation: Operation, grant: Grant, query: Any) -> Owner:
    """Whose memory the call is about.

    Raises:
        RefusedError: It is for another's memory.
    """
    if operation.scope != "user" and not grant.for_all_users:
        raise RefusedError("this needs a key for all users of a tenant", status=403)
    try:
        user, tenant = grant.owner(query.user, query.tenant)
    except PermissionError as error:
        raise RefusedError(str(error), status=403) from None
    return Owner(tenant=tenant, user=user)


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
