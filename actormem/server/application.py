"""The application: every operation of `remote.operations` on its path, live events, the document, and the proxy."""

import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp

from actormem import ActorMemError
from actormem.remote.failures import RefusedError
from actormem.remote.operations import OPERATIONS, Operation
from actormem.server.direct import HANDLERS, frames
from actormem.server.door import OPEN_PATHS, Door
from actormem.server.grants import Keys
from actormem.server.live import EVENTS, LiveEvents
from actormem.server.openapi import openapi
from actormem.server.proxy import proxy_routes
from actormem.server.rates import Rates
from actormem.server.requests import read_call
from actormem.server.responses import answer_response, failure_response
from actormem.server.state import ServerState

__all__ = ["application"]

logger = logging.getLogger(__name__)


def application(
    state: ServerState,
    *,
    keys: Keys | None = None,
    rates: Rates | None = None,
    hosts: Iterable[str] = (),
    pages: Sequence[BaseRoute] = (),
    open_paths: Iterable[str] = (),
) -> ASGIApp:
    """The ASGI application of a runtime that is open.

    Args:
        state: The runtime and what is open on it.
        keys: None where no key is asked for: for servers that this machine alone can reach.
        rates: How often each key may come; None for no limit.
        hosts: Names by which the server may be called; empty for any.
        pages: More routes, such as those of a page; `open_paths` of them need no key.
    """
    routes: list[BaseRoute] = [
        Route(one.path, _endpoint(state, one), methods=[one.method], name=one.name) for one in OPERATIONS
    ]
    routes.append(Route(EVENTS.path, LiveEvents(state), methods=["GET"]))
    routes.append(Route("/openapi.json", _document, methods=["GET"]))
    routes += [*proxy_routes(state), *pages]
    inner = Starlette(routes=routes, exception_handlers={HTTPException: _refused})
    return Door(
        inner,
        keys=keys,
        rates=rates or Rates(0, lambda: 0.0),
        hosts=hosts,
        open_paths=(*OPEN_PATHS, *open_paths),
        running=state.running,
    )


def _endpoint(state: ServerState, operation: Operation) -> Callable[[Request], Awaitable[Response]]:
    handler = HANDLERS[operation.name]

    async def endpoint(request: Request) -> Response:
        try:
            return answer_response(await handler(await read_call(state, operation, request)))
        except ActorMemError as error:
            return failure_response(error)
        except Exception as error:
            # Without the error's words, which may be anybody's.
            logger.error("%s failed: %s\n%s", operation.name, type(error).__name__, frames(error))  # noqa: TRY400
            return failure_response(error)

    return endpoint


async def _document(_: Request) -> Response:
    return Response(openapi(), media_type="application/json")


async def _refused(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    said = "the path has no such method" if error.status_code == 405 else "there is nothing at this path"
    return failure_response(
        RefusedError(said, status=error.status_code, hint="see /openapi.json"), error.status_code
    )
