"""How a server is to be."""

from urllib.parse import urlsplit

import msgspec

from actormem import UsageError

__all__ = ["ServerSettings"]

BODY_BYTES_MAX = 16 * 1024 * 1024


class ServerSettings(msgspec.Struct, frozen=True, kw_only=True):
    """How the server is to be.

    Attributes:
        body_bytes_max: Of a request.
        upstream: URL of an OpenAI-compatible server, its `/v1` included, or an empty string.
        upstream_key: Sent to it where the client sends no key of its own.
        budget_tokens: Of the contexts of sessions that the proxy makes; None for what the runtime gives.
        turn_idle_s: Seconds after which a turn of the proxy that waits for tool results is ended.
        upstream_timeout_s: Seconds of silence of the upstream after which it has failed.
    """

    body_bytes_max: int = BODY_BYTES_MAX
    upstream: str = ""
    upstream_key: str = ""
    budget_tokens: int | None = None
    turn_idle_s: float = 300.0
    upstream_timeout_s: float = 600.0

    def __post_init__(self) -> None:
        parts = urlsplit(self.upstream)
        if self.upstream and (parts.scheme not in ("http", "https") or not parts.netloc):
            raise UsageError("the upstream must be an http or https URL, such as https://api.openai.com/v1")
        if self.body_bytes_max < 1:
            raise UsageError(f"the limit of a body must be above 0 bytes, not {self.body_bytes_max}")
