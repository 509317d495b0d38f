"""The model's server behind the proxy: one client, which headers go to it, and which come back.

Law: a key of ours never goes there; what comes back goes on as it is, but for what belongs to one connection alone.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from actormem import ProviderError
from actormem.remote.failures import RefusedError
from actormem.remote.transport import client_library
from actormem.server.settings import ServerSettings

if TYPE_CHECKING:
    from starlette.datastructures import Headers

__all__ = ["Upstream", "answer_headers"]

CONNECT_S = 10.0
CONNECTIONS_MAX = 1_000
IDLE_CONNECTIONS_MAX = 20  # the library looks at each of them at every request
NAME = "the upstream"
TRIES = 2
NOT_SENT_ON = frozenset(
    (
        "accept-encoding", "authorization", "connection", "content-length", "cookie", "expect", "forwarded", "host",
        "keep-alive", "origin", "proxy-authorization", "proxy-connection", "referer", "te", "trailer",
        "transfer-encoding", "upgrade",
    )
)  # fmt: skip
NOT_SENT_BACK = frozenset(
    (
        "connection", "content-encoding", "content-length", "date", "keep-alive", "proxy-authenticate", "server",
        "set-cookie", "te", "trailer", "transfer-encoding", "upgrade",
    )
)  # fmt: skip
OURS = ("x-actormem-", "access-control-", "sec-", "x-forwarded-")


class Upstream:
    """Sends requests on."""

    def __init__(self, settings: ServerSettings) -> None:
        self._settings = settings
        self._client: Any = None

    @asynccontextmanager
    async def answer(
        self, method: str, path: str, query: str, body: bytes, headers: dict[str, str]
    ) -> AsyncGenerator[Any]:
        """The upstream's answer, its body still to be read.

        Raises:
            RefusedError: There is no upstream.
            ProviderError: It cannot be reached, or says nothing.
        """
        if not self._settings.upstream:
            raise RefusedError(
                "there is no model's server behind this one", status=404, hint="start it with --upstream URL"
            )
        library, answer, failure = client_library(), None, None
        url = f"{self._settings.upstream.rstrip('/')}/{path}{f'?{query}' if query else ''}"
        client = self._client = self._client or self._made(library)
        for _ in range(TRIES):
            try:
                request = client.build_request(method, url, content=body, headers=headers)
                answer = await client.send(request, stream=True)
                break
            except (library.HTTPError, library.InvalidURL) as error:
                failure = ProviderError(f"cannot be reached ({type(error).__name__})", provider=NAME)
                # The upstream may have closed an idle connection just as it was taken: nothing of it was read.
                if not isinstance(
                    error, (library.ReadError, library.WriteError, library.RemoteProtocolError)
                ):
                    break
        if answer is None:
            assert failure is not None
            raise failure
        try:
            yield answer
        finally:
            await answer.aclose()

    def headers(self, given: "Headers", *, keyed: bool) -> dict[str, str]:
        """What goes to the upstream of a request's headers, with its key.

        Args:
            keyed: The request's Authorization holds a key of ours, not of the upstream's.
        """
        kept = {
            name: value
            for name, value in given.items()
            if name not in NOT_SENT_ON and not name.startswith(OURS)
        }
        kept["accept-encoding"] = "identity"
        own = given.get("authorization")
        if self._settings.upstream_key:
            kept["authorization"] = f"Bearer {self._settings.upstream_key}"
        elif own is not None and not keyed:
            kept["authorization"] = own
        return kept

    async def aclose(self) -> None:
        """Close the client, if there is one."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    def _made(self, library: Any) -> Any:
        silence_s = self._settings.upstream_timeout_s
        return library.AsyncClient(
            timeout=library.Timeout(silence_s, connect=CONNECT_S, pool=CONNECT_S),
            limits=library.Limits(
                max_connections=CONNECTIONS_MAX, max_keepalive_connections=IDLE_CONNECTIONS_MAX
            ),
            follow_redirects=False,
        )


def answer_headers(given: Any) -> list[tuple[bytes, bytes]]:
    """What of the upstream's headers goes back."""
    return [
        (name, value)
        for name, value in given.raw
        if (lower := name.decode("latin-1").lower()) not in NOT_SENT_BACK and not lower.startswith(OURS)
    ]
