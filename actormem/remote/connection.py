"""One connection to a server: operations asked over HTTP, and what its failures let the caller conclude.

Law: where nothing was sent, the error says that nothing changed; where an answer did not come, that the outcome is
unknown; and the same message id may be sent again in both cases.
"""

import os
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, NoReturn

import anyio.lowlevel
import msgspec

from actormem.core.live import LiveEvent
from actormem.core.values import Owner
from actormem.errors import ActorMemError, AskTimeoutError, OverloadedError, StoppedError, UsageError
from actormem.remote.asking import ANSWER_S, LOST
from actormem.remote.event_stream import EventReader
from actormem.remote.failures import FailureAnswer, raised
from actormem.remote.operations import Operation, named
from actormem.remote.transport import client_library

__all__ = ["Connection", "decoded", "encoded", "fail", "open_client"]

CONNECT_S = 5.0
CONNECTIONS_MAX = 200  # of one process; a turn that waits holds one
KEPT_ALIVE_S = 20.0  # shorter than the server keeps them
UNIX = "unix:"
EVENTS_PATH = "/api/events"


def open_client(url: str, key: str | None) -> Any:
    """The client of the HTTP library, for this URL.

    Raises:
        UsageError: It is neither `unix:PATH` nor an http URL.
    """
    library, transport = client_library(), None
    base = url
    if url.startswith(UNIX):
        transport = library.AsyncHTTPTransport(uds=url.removeprefix(UNIX), limits=_limits(library))
        base = "http://localhost"
    elif not url.startswith(("http://", "https://")):
        raise UsageError("the url must be unix:PATH, or begin with http:// or https://")
    return library.AsyncClient(
        base_url=base,
        transport=transport,
        limits=_limits(library),
        headers={"x-actormem-key": key} if key else {},
        timeout=library.Timeout(ANSWER_S, connect=CONNECT_S, pool=CONNECT_S),
        follow_redirects=False,
        trust_env=False,
    )


class Connection:
    """Asks operations; belongs to its process and its event loop."""

    def __init__(self, client: Any, url: str) -> None:
        self._client = client
        self._library = client_library()
        self._url = url
        self._loop = anyio.lowlevel.current_token()
        self._pid = os.getpid()

    def check_loop(self) -> None:
        """A connection belongs to its process and its event loop.

        Raises:
            UsageError: This is another one.
        """
        if os.getpid() != self._pid:
            raise UsageError(
                f"the connection was opened in process {self._pid}, and this is a fork of it",
                hint="connect in each process, after it was forked",
            )
        if anyio.lowlevel.current_token() != self._loop:
            raise UsageError("the connection was opened in another event loop", hint="connect in each loop")

    def place(self, owner: Owner) -> int:  # noqa: ARG002 - the same for all
        """There is one server."""
        return 0

    async def ask(
        self,
        name: str,
        owner: Owner | None = None,
        /,
        *,
        body: Mapping[str, object] | None = None,
        timeout_s: float = ANSWER_S,
        **query: object,
    ) -> Any:
        """The answer of an operation.

        Raises:
            StoppedError: The server is not there, and nothing changed; or it went away, and the outcome is unknown.
            AskTimeoutError: No answer came in time; the outcome is unknown.
            ActorMemError: What the server says.
        """
        self.check_loop()
        operation = named(name)
        content = None if body is None else encoded(body)
        status, raw = await self._sent(operation, _query(owner, query), content, timeout_s)
        return decoded(operation.answer, raw) if status < 400 else fail(status, raw)

    @asynccontextmanager
    async def events(self, owner: Owner) -> AsyncGenerator[AsyncIterator[LiveEvent]]:
        """What happens to an owner's memory from here on.

        Raises:
            As `ask`.
        """
        async with self._stream(EVENTS_PATH, owner) as answer:
            yield _events(answer)

    @asynccontextmanager
    async def _stream(self, path: str, owner: Owner) -> AsyncGenerator[Any]:
        self.check_loop()
        library = self._library
        silent = library.Timeout(None, connect=CONNECT_S, pool=CONNECT_S)
        request = self._client.build_request("GET", path, params=_query(owner, {}), timeout=silent)
        answer, failure = None, None
        try:
            answer = await self._client.send(request, stream=True)
        except library.HTTPError as error:
            failure = self._failure(error, 0.0)
        if answer is None:
            assert failure is not None
            raise failure
        try:
            if answer.status_code >= 400:
                fail(answer.status_code, await answer.aread())
            yield answer
        finally:
            await answer.aclose()

    async def _sent(
        self,
        operation: Operation,
        query: Mapping[str, str | list[str]],
        content: bytes | None,
        timeout_s: float,
    ) -> tuple[int, bytes]:
        library, failure = self._library, None
        timeout = library.Timeout(
            timeout_s, connect=min(CONNECT_S, timeout_s), pool=min(CONNECT_S, timeout_s)
        )
        # A deadline of ours besides: the library's is for one read, not for all of them.
        with anyio.move_on_after(timeout_s):
            try:
                answer = await self._client.request(
                    operation.method, operation.path, params=query, content=content, timeout=timeout,
                    headers={} if content is None else {"content-type": "application/json"},
                )  # fmt: skip
            except library.HTTPError as error:
                failure = self._failure(error, timeout_s)
            else:
                return answer.status_code, answer.content
        raise failure or AskTimeoutError(f"no answer within {timeout_s:g} s; {LOST}")

    def _failure(self, error: Exception, timeout_s: float) -> ActorMemError:
        """Our error for one of the library's."""
        library, kind = self._library, type(error).__name__
        if isinstance(error, library.PoolTimeout):
            return OverloadedError(
                "nothing was sent", mailbox="connections", waiting=CONNECTIONS_MAX, limit=CONNECTIONS_MAX
            )
        if isinstance(error, (library.ConnectError, library.ConnectTimeout)):
            return StoppedError("nothing changed", reason=f"no server answers at {self._url} ({kind})")
        if isinstance(error, library.TimeoutException):
            return AskTimeoutError(f"no answer within {timeout_s:g} s; {LOST}")
        return StoppedError(LOST, reason=f"the server went away ({kind})")


def _limits(library: Any) -> Any:
    return library.Limits(max_connections=CONNECTIONS_MAX, keepalive_expiry=KEPT_ALIVE_S)


def _query(owner: Owner | None, given: Mapping[str, object]) -> dict[str, str | list[str]]:
    found: dict[str, str | list[str]] = {}
    if owner is not None:
        found["user"] = owner.user
        if owner.tenant:
            found["tenant"] = owner.tenant
    for name, value in given.items():
        if isinstance(value, bool):
            found[name] = "true" if value else "false"
        elif isinstance(value, (list, tuple, set, frozenset)):
            found[name] = [str(one) for one in value]  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
        elif value is not None:
            found[name] = str(value)
    return found


async def _events(answer: Any) -> AsyncIterator[LiveEvent]:
    reader, failure = EventReader(), None
    try:
        async for part in answer.aiter_bytes():
            for data in reader.read(part):
                yield msgspec.json.decode(data, type=LiveEvent)
    except Exception as error:
        if type(error).__module__.partition(".")[0] not in ("httpx", "httpx2"):
            raise
        failure = error
    raise StoppedError(
        "no more events come", reason="the server went away" if failure else "the server has stopped"
    )


def encoded(body: Mapping[str, object]) -> bytes:
    """The body of a request; what is not given is not in it.

    Raises:
        UsageError: JSON has no word for something in it.
    """
    try:
        return msgspec.json.encode(
            {name: value for name, value in body.items() if value is not msgspec.UNSET}
        )
    except (TypeError, UnicodeError, OverflowError, RecursionError, ValueError):
        raise UsageError("an argument holds what JSON has no word for") from None


def decoded(kind: type, raw: bytes) -> Any:
    """The answer that this is.

    Raises:
        AskTimeoutError: It is none.
    """
    try:
        return msgspec.json.decode(raw, type=kind)
    except (msgspec.MsgspecError, UnicodeError):
        raise AskTimeoutError(f"the answer is none of a server's of this version; {LOST}") from None


def fail(status: int, raw: bytes) -> NoReturn:
    """Raise the error that an answer is."""
    try:
        failure = msgspec.json.decode(raw, type=FailureAnswer).error
    except (msgspec.MsgspecError, UnicodeError):
        raise AskTimeoutError(f"the answer has status {status} and says no more; {LOST}") from None
    raise raised(failure)
