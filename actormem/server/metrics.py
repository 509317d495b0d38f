"""`GET /metrics`: what Prometheus reads. Counts and times alone, none of anybody."""

from collections.abc import Generator
from contextlib import contextmanager

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from actormem import Runtime
from actormem.observe.metrics import CONTENT_TYPE, RuntimeMetrics

__all__ = ["measured"]


@contextmanager
def measured(runtime: Runtime) -> Generator[Route, None, None]:
    """The route, and what it tells is counted meanwhile. Where keys are asked for, any of them may read it."""
    metrics = RuntimeMetrics(runtime)

    async def read(request: Request) -> Response:
        del request
        return Response(metrics.text(), media_type=CONTENT_TYPE)

    with runtime.observe(metrics):
        yield Route("/metrics", read, methods=["GET"])
