"""What stands behind an adapter in a check: a server that behaves as the check wants it.

The checks know no protocol. You do: build the fake of your provider's server (a transport of your HTTP client, a
server on the loopback, a function) that behaves as `server.behaviour` says, and the adapter that talks to it.
"""

from collections.abc import Callable, Coroutine
from typing import Final, Literal, TypeAlias

import anyio
import anyio.lowlevel

from actormem.errors import ProviderError
from actormem.testing.contracts.checks import BrokenPromiseError, require

__all__ = ["KEY", "PROMPT", "Behaviour", "Server", "holds_no_secret", "lets_go"]

Behaviour: TypeAlias = Literal["answers", "blank", "garbage", "refuses", "hangs", "drips", "gone"]
"""`answers`: as usual, at once. `blank`: a proper reply without words. `garbage`: a success whose body is no reply.
`refuses`: an error status. `hangs`: takes the request and says nothing. `drips`: begins to answer and never ends.
`gone`: nobody listens. The bodies of `garbage` and `refuses` repeat the request and the key, as real servers do."""

KEY: Final = "sk-canary-key-7731"
"""Give your adapter this as its key: the checks look for it in errors."""
PROMPT: Final = "我的密码是 canary-prompt-4402"
"""What the checks say to the model, and look for in errors."""
LET_GO_S: Final = 10.0  # what has not ended so long after it was cancelled waits for something else


class Server:
    """The server that a check asks for.

    Attributes:
        behaviour: What it does with every request.
        requests: Append each request's body here as it arrives, in whatever form you have it. A check that finds
            none where one was sent fails.
    """

    def __init__(self, behaviour: Behaviour) -> None:
        self.behaviour: Behaviour = behaviour
        self.requests: list[object] = []


def holds_no_secret(error: ProviderError) -> None:
    """Fail the check if the prompt or the key is in the error, or in anything that would be logged with it."""
    seen: BaseException | None = error
    while seen is not None:
        text = f"{seen!r} {seen} {vars(seen)}"
        for secret, name in ((KEY, "the key"), (PROMPT, "the prompt")):
            if secret in text or secret.split()[-1] in text:
                raise BrokenPromiseError(f"{name} is in the error, or in what hangs on it")
        seen = seen.__cause__ or seen.__context__
    require(bool(str(error)), "the error says nothing")


async def lets_go(server: Server, call: Callable[[], Coroutine[object, object, object]]) -> None:
    """Fail the check unless the call ends when it is cancelled, once its request has arrived."""
    cancelled_s = anyio.current_time()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(call)
        while not server.requests:
            await anyio.lowlevel.checkpoint()
        cancelled_s = anyio.current_time()
        tasks.cancel_scope.cancel()
    waited_s = anyio.current_time() - cancelled_s
    require(waited_s < LET_GO_S, f"a caller that was cancelled waited {waited_s:.0f} s more")
