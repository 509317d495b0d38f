"""Who comes in: the host that was asked for, where the page that asks came from, the key, how often, how large.

Law: it is decided before anything is read of the body, and a refusal is one JSON line that holds no words of anybody's.
"""

from collections.abc import Iterable
from urllib.parse import urlsplit

import anyio
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from actormem import StoppedError
from actormem.remote.failures import RefusedError
from actormem.server.grants import LOCAL, Grant, Keys
from actormem.server.rates import Rates
from actormem.server.responses import failure_response

__all__ = ["GRANT", "KEY_HEADER", "Door", "given_key", "local_hosts"]

GRANT = "actormem.grant"
KEY_HEADER = "x-actormem-key"
LOCAL_NAMES = ("localhost", "127.0.0.1", "::1")
CUT_OFF = "the outcome is unknown; the same message id may be sent again"
OPEN_PATHS = ("/api/health", "/openapi.json")


class Door:
    """Stands before the application.

    Args:
        keys: None where no key is asked for.
        rates: How often each key may come.
        hosts: Names by which the server may be called; empty for any.
        open_paths: Asked for without a key.
        running: Where a scope of each request stands while it runs; who cancels it cuts the request off.
    """

    def __init__(
        self,
        application: ASGIApp,
        *,
        keys: Keys | None,
        rates: Rates,
        hosts: Iterable[str] = (),
        open_paths: Iterable[str] = OPEN_PATHS,
        running: set[anyio.CancelScope] | None = None,
    ) -> None:
        self._application = application
        self._keys = keys
        self._rates = rates
        self._hosts = frozenset(one.lower() for one in hosts)
        self._open_paths = frozenset(open_paths)
        self._running = set[anyio.CancelScope]() if running is None else running

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": 1008})
                return
            await self._application(scope, receive, send)
            return
        headers = Headers(scope=scope)
        try:
            self._check_host(headers, scope)
            grant = self._grant(headers, scope["path"])
            self._check_rate(grant)
        except RefusedError as error:
            await failure_response(error)(scope, receive, send)
            return
        scope[GRANT] = grant
        begun = False

        async def sending(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        with anyio.CancelScope() as running:
            self._running.add(running)
            try:
                await self._application(scope, receive, sending)
            finally:
                self._running.discard(running)
        if running.cancelled_caught and not begun:
            await failure_response(StoppedError(CUT_OFF, reason="the server stops"))(scope, receive, send)

    def _check_host(self, headers: Headers, scope: Scope) -> None:
        """A page of somebody else's, in a browser on this machine, is not let in, whatever name it calls us by."""
        host = headers.get("host", "")
        if self._hosts and _name(host) not in self._hosts:
            raise RefusedError("the Host header names another server", status=421, hint="see --allow-host")
        origin = headers.get("origin")
        if origin is not None and urlsplit(origin).netloc.lower() != host.lower():
            raise RefusedError("requests of pages of other origins are refused", status=403)
        followed = scope["path"] in self._open_paths and headers.get("sec-fetch-dest") == "document"  # a link
        if headers.get("sec-fetch-site") in ("cross-site", "same-site") and not followed:
            raise RefusedError("requests of pages of other sites are refused", status=403)

    def _check_rate(self, grant: Grant) -> None:
        wait_s = self._rates.wait_s(grant.name) if self._keys is not None else 0.0
        if wait_s:
            raise RefusedError(
                "the key is used too often", status=429, retry_after_s=wait_s, hint="try again later"
            )

    def _grant(self, headers: Headers, path: str) -> Grant:
        if self._keys is None:
            return LOCAL
        if path in self._open_paths:
            return Grant(name="nobody", tenant="", user="")
        grant = self._keys.grant(given_key(headers))
        if grant is None:
            raise RefusedError(
                "a key is needed", status=401, hint="send it as `Authorization: Bearer KEY` or X-Actormem-Key"
            )
        return grant


def given_key(headers: Headers) -> str:
    """The key of a request, or an empty string."""
    own = headers.get(KEY_HEADER)
    if own is not None:
        return own
    scheme, _, key = headers.get("authorization", "").partition(" ")
    return key.strip() if scheme.lower() == "bearer" else ""


def local_hosts(more: Iterable[str]) -> frozenset[str]:
    """The names of a server that listens to this machine alone."""
    return frozenset((*LOCAL_NAMES, *more))


def _name(host: str) -> str:
    """A Host header without its port."""
    try:
        return (urlsplit(f"//{host}").hostname or "").lower()
    except ValueError:
        return ""
