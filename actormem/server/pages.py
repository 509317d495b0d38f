"""The page at `/`: what is remembered about a user, and his sessions, for a person to see. Plain files, as they are.

Law: the files hold nobody's words, so they need no key; what the page shows it asks of the API, which does. A browser
is told to run nothing but these files, to show them in no frame, and to put no text in as HTML.
"""

from collections.abc import Awaitable, Callable
from hashlib import blake2b
from importlib.resources import files

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

__all__ = ["page_paths", "page_routes"]

FOLDER = files("actormem.server") / "page"
KINDS = {
    "css": "text/css; charset=utf-8",
    "html": "text/html; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "cache-control": "no-cache",  # kept, but asked for again: its parts must be of one version
}


def page_routes() -> list[Route]:
    """A route for each file of the page; there is no other way to a file."""
    return [Route(_path(name), _endpoint(name, content), methods=["GET"]) for name, content in _files()]


def page_paths() -> tuple[str, ...]:
    """The paths of these routes: they need no key."""
    return tuple(_path(name) for name, _ in _files())


def _files() -> list[tuple[str, bytes]]:
    found = ((one.name, one) for one in FOLDER.iterdir() if one.is_file())
    return [(name, one.read_bytes()) for name, one in sorted(found) if name.rpartition(".")[2] in KINDS]


def _path(name: str) -> str:
    return "/" if name == "index.html" else f"/page/{name}"


def _endpoint(name: str, content: bytes) -> Callable[[Request], Awaitable[Response]]:
    headers = {**HEADERS, "etag": f'"{blake2b(content, digest_size=12).hexdigest()}"'}
    kind = KINDS[name.rpartition(".")[2]]

    async def endpoint(request: Request) -> Response:
        if headers["etag"] in request.headers.get("if-none-match", ""):
            return Response(status_code=304, headers=headers)
        return Response(content, media_type=kind, headers=headers)

    return endpoint
